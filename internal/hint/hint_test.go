package hint

import (
	"errors"
	"slices"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"kern.ipc.maxsockbuf", "kern.ipc.somaxconn", "kern.ipc.soacceptqueue", "net.inet.tcp.tso"}
	for _, c := range []struct {
		name string
		want []string
	}{
		{"kern.ipc.maxsokbuf", []string{"kern.ipc.maxsockbuf"}},
		{"kern.ipc.somaxcon", []string{"kern.ipc.somaxconn"}},
		{"net.inet.tcp.tos", []string{"net.inet.tcp.tso"}},
		{"soacceptqueue", []string{"kern.ipc.soacceptqueue"}},
		{"zfs", nil},
	} {
		got := Nearest(c.name, known, 1)
		if len(got) == 0 && c.want == nil {
			continue
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("Nearest(%q) = %q, want %q", c.name, got, c.want)
		}
	}
}

func TestHintSurvivesWrapping(t *testing.T) {
	base := errors.New("no such device")
	err := With(base, "create it first")
	if Of(errors.Join(err)) != "create it first" {
		t.Error("the hint is lost when its error is wrapped")
	}
	if !errors.Is(err, base) {
		t.Error("the cause is lost behind the hint")
	}
	if With(nil, "x") != nil {
		t.Error("advice on no error must be no error")
	}
}

func TestUnknownNamesTheNearest(t *testing.T) {
	err := Unknown("study", "firewal-rules", []string{"firewall-rules", "throughput"})
	if !IsUsage(err) {
		t.Error("an unknown name is a usage error")
	}
	if got, want := Of(err), "did you mean firewall-rules?"; got != want {
		t.Errorf("hint %q, want %q", got, want)
	}
}

func FuzzNearest(f *testing.F) {
	f.Add("kern.ipc", "kern.ipc.maxsockbuf")
	f.Fuzz(func(t *testing.T, name, known string) {
		Nearest(name, []string{known, name}, 2)
		const all = 1 << 20
		if distance(name, known, all) != distance(known, name, all) {
			t.Errorf("distance(%q, %q) is not symmetric", name, known)
		}
		for limit := range 4 {
			if exact, got := distance(name, known, all), Distance(name, known, limit); (exact <= limit || got <= limit) && got != Distance(name, known, all) {
				t.Errorf("Distance(%q, %q, %d) is %d, not %d", name, known, limit, got, exact)
			}
		}
	})
}

func TestOptionsAreSaidAsTheirReaderTypesThem(t *testing.T) {
	err := With(errors.New("no"), "use %s, or %s", Option("engine", "af_packet"), Option("all", ""))
	if got := Of(err); got != "use engine af_packet, or the option all" {
		t.Errorf("in words: %q", got)
	}
	flag := func(name, value string) string { return "--" + name + value }
	if got := Render(err, flag); got != "use --engineaf_packet, or --all" {
		t.Errorf("rendered: %q", got)
	}
	if got := Render(errors.New("plain"), flag); got != "" {
		t.Errorf("without advice: %q", got)
	}
}

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

func TestAside(t *testing.T) {
	plain := errors.New("no clock")
	for want, err := range map[string]error{"no clock": plain, "no clock (wind it)": With(plain, "wind it")} {
		if got := Aside(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
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
	if got := Of(err); got != "use --engine af_packet, or --all" {
		t.Errorf("%q", got)
	}
	if got := Of(errors.New("plain")); got != "" {
		t.Errorf("without advice: %q", got)
	}
}

// TestNearestByDistance: closest first, then by name; short names match by distance only, and at most the
// requested number is returned.
func TestNearestByDistance(t *testing.T) {
	for _, c := range []struct {
		name  string
		known []string
		most  int
		want  []string
	}{
		{"abcdef", []string{"abcdxx", "abcdef", "abcdex"}, 3, []string{"abcdef", "abcdex", "abcdxx"}},
		{"abcdef", []string{"zbcdef", "bbcdef"}, 3, []string{"bbcdef", "zbcdef"}},
		{"abcdef", []string{"a", "abcdef", "abcdex", "abcdey"}, 2, []string{"abcdef", "abcdex"}},
		{"abdcef", []string{"abcdef"}, 1, []string{"abcdef"}}, // two letters that changed places are one mistake
		{"tos", []string{"tso", "net.inet.tcp.tso"}, 3, []string{"tso"}},
		{"tso", []string{"net.inet.tcp.tso"}, 3, nil}, // three letters are a part of too much
		{"rmem", []string{"net.core.rmem_max", "x"}, 3, []string{"net.core.rmem_max"}},
		{"TSO4", []string{"tso4"}, 1, []string{"tso4"}},
		{"abcdef", []string{"uvwxyz"}, 3, nil},
		{"abcdef", nil, 3, nil},
		{"", []string{"x"}, 3, []string{"x"}},
	} {
		if got := Nearest(c.name, c.known, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%q among %q: %q, want %q", c.name, c.known, got, c.want)
		}
	}
	for pair, want := range map[[2]string]int{{"", ""}: 0, {"a", ""}: 1, {"", "ab"}: 2, {"kitten", "sitting"}: 3, {"ab", "ba"}: 1, {"abc", "ca"}: 3, {"abcd", "acbd"}: 1, {"x", "y"}: 1} {
		if got := Distance(pair[0], pair[1], 9); got != want {
			t.Errorf("%q: %d edits, want %d", pair, got, want)
		}
		if got := Distance(pair[0], pair[1], want); got != want {
			t.Errorf("%q within %d: %d", pair, want, got)
		}
		if got := Distance(pair[0], pair[1], want-1); want > 0 && got <= want-1 {
			t.Errorf("%q within %d: %d", pair, want-1, got)
		}
	}
}

// TestUnknownTellsWhatThereIs: a few names are listed, of many only the nearest.
func TestUnknownTellsWhatThereIs(t *testing.T) {
	twelve := []string{"aaaa1", "aaaa2", "aaaa3", "aaaa4", "aaaa5", "aaaa6", "aaaa7", "aaaa8", "aaaa9", "aaaa10", "aaaa11", "aaaa12"}
	for _, c := range []struct {
		name  string
		known []string
		want  string
	}{
		{"zzzzz", []string{"one", "two"}, "known: one, two"}, {"zzzzz", []string{"one"}, "known: one"}, {"zzzzz", twelve, "known: aaaa1, aaaa2, aaaa3, aaaa4, aaaa5, aaaa6, aaaa7, aaaa8, aaaa9, aaaa10, aaaa11, aaaa12"},
		{"zzzzz", append(twelve[:12:12], "more"), ""}, {"zzzzz", nil, ""}, {"aaaa0", twelve[:9], "did you mean aaaa1, aaaa2, aaaa3?"},
	} {
		err := Unknown("thing", c.name, c.known)
		if err.Error() != `unknown thing "`+c.name+`"` || Of(err) != c.want {
			t.Errorf("%s of %d: %v; %q, want %q", c.name, len(c.known), err, Of(err), c.want)
		}
	}
}

// TestMarksOfErrors: marking an error does not change its text, the mark is found through wrapping, and marking
// nil gives nil.
func TestMarksOfErrors(t *testing.T) {
	cause := errors.New("cause")
	for name, mark := range map[string]func(error) error{"usage": Usage, "left": Left, "advice": func(err error) error { return With(err, "x") }} {
		if err := mark(cause); err.Error() != "cause" || !errors.Is(err, cause) {
			t.Errorf("%s: %v", name, err)
		}
		if mark(nil) != nil {
			t.Errorf("%s of no error is one", name)
		}
	}
	if err := errors.Join(Usagef("no %d", 5)); !IsUsage(err) || IsUsage(cause) || IsUsage(nil) {
		t.Errorf("%v", err)
	}
	left := Left(errors.New("the host is as it was"))
	if got := LeftOf(errors.Join(cause, left)); got == nil || got.Error() != "the host is as it was" || LeftOf(cause) != nil || LeftOf(nil) != nil {
		t.Errorf("%v", got)
	}
	if got := Of(With(With(cause, "inner"), "outer %d", 1)); got != "outer 1" || Of(nil) != "" {
		t.Errorf("%q", got)
	}
	if got := Exit(4).Error(); got != "exit status 4" {
		t.Error(got)
	}
}

package plan

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"linerate/internal/setting"
)

var update = flag.Bool("update", false, "rewrite golden files")

func ptr(s string) *string { return &s }

// sample returns a plan with a setting for each kind of place.
func sample(os string) Plan {
	set := func(m setting.Mechanism, device, name, was, value string) Step {
		return Step{Name: name, Mechanism: m, Device: device, Current: Current{ptr(was), "default"}, Value: value,
			Where:  Where{File: PlaceOf(os, m), Runtime: m != setting.Loader && m != setting.RC},
			Reason: "a router forwards what it does not own; the sentence is long enough to be broken over two lines of a file",
			Risk:   "none", ResetCost: "none", Undo: "automatic", Evidence: Evidence{Kind: Correctness}}
	}
	p := Plan{OS: os, Role: "router", Host: "fw1"}
	if os == "freebsd" {
		p.Release = "14.3-RELEASE"
		p.Settings = []Step{
			set(setting.Sysctl, "", "net.inet.ip.redirect", "1", "0"),
			set(setting.Loader, "", "hw.ix.max_interrupt_rate", "31250", "16000"),
			set(setting.RC, "", "gateway_enable", "NO", "YES"),
			set(setting.RC, "", "hostile", "", "$(rm -rf /)`x`\"\\"),
			set(setting.Offload, "em0.100", "lro", "on", "off"),
			set(setting.Link, "em0.100", "mtu", "1500", "9000"),
			set(setting.Module, "", "tcp_rack", "absent", "loaded"),
			set(setting.PFLimit, "", "states", "100000", "5000000"),
		}
		return p
	}
	p.Release = "6.1.0-18-amd64"
	p.Settings = []Step{
		set(setting.Sysctl, "", "net.ipv4.tcp_rmem", "4096 131072 6291456", "4096 131072 67108864"),
		set(setting.Module, "", "tcp_bbr", "absent", "loaded"),
		set(setting.ModParam, "", "nf_conntrack/hashsize", "65536", "1048576"),
		set(setting.Link, "eth0", "mtu", "1500", "9000"),
		set(setting.Offload, "eth0", "gro", "on", "off"),
		set(setting.Ring, "eth0", "rx", "256", "4096"),
		set(setting.NAPI, "eth0", "threaded", "off", "on"),
		set(setting.RPS, "eth0", "rx-0", "0", "f"),
		set(setting.Governor, "", "cpu0", "powersave", "performance"),
	}
	return p
}

func seal(t *testing.T, p Plan) Plan {
	t.Helper()
	p, err := Seal(p)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestMarshalParse(t *testing.T) {
	p := seal(t, sample("linux"))
	doc, err := Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Parse(doc)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := Marshal(back)
	if !bytes.Equal(doc, again) {
		t.Errorf("the document changes when it is read and written:\n%s\n%s", doc, again)
	}
}

func TestParseRefuses(t *testing.T) {
	doc, _ := Marshal(seal(t, sample("linux")))
	good := string(doc)
	for _, c := range []struct{ name, doc, want string }{
		{"tampered value", strings.Replace(good, "67108864", "67108865", 1), "changed after it was made"},
		{"unknown field", strings.Replace(good, `"role"`, `"roles"`, 1), "unknown field"},
		{"trailing document", good + good, "there is data after"},
		{"no plan", "hello", "not a plan"},
		{"never sealed", regexp.MustCompile(`"digest": "[^"]*"`).ReplaceAllString(good, `"digest": ""`), "has no digest"},
		{"other version", strings.Replace(good, `"version": 1`, `"version": 9`, 1), "version 9"},
		{"somebody's file", strings.Replace(good, LinuxSysctl, "/etc/passwd", 1), "would write"},
		{"a path as a name", strings.Replace(good, "net.ipv4.tcp_rmem", "/etc/shadow", 1), "name"},
		{"a path with ..", strings.Replace(good, "nf_conntrack/hashsize", "../../x/y", 1), "name"},
		{"an option as a device", strings.Replace(good, `"device": "eth0"`, `"device": "-eth0"`, 1), "device"},
		{"two lines", strings.Replace(good, `"value": "9000"`, `"value": "9000\nx=1"`, 1), "one line"},
		{"an unknown mechanism", strings.Replace(good, `"sysctl"`, `"sysctk"`, 1), "mechanism"},
		{"too large", strings.Repeat(" ", MaxDocument+1), "the limit"},
	} {
		if _, err := Parse([]byte(c.doc)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one about %q", c.name, err, c.want)
		}
	}
	if _, err := Parse([]byte(strings.Replace(good, "router", "routes", 1))); !errors.Is(err, ErrDigest) {
		t.Errorf("a changed role: %v", err)
	}
}

func TestRender(t *testing.T) {
	for _, system := range []string{"linux", "freebsd"} {
		files, err := Render(seal(t, sample(system)), nil)
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, f := range files {
			all.WriteString("== " + f.Path + "\n" + f.Content)
		}
		golden := filepath.Join("testdata", system+".golden")
		if *update {
			if err := os.WriteFile(golden, []byte(all.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if all.String() != string(want) {
			t.Errorf("%s renders\n%s\nwant\n%s", system, all.String(), want)
		}
	}
}

// TestRenderKeeps: settings of an earlier plan stay, and a setting that is set again replaces its old line
// in place.
func TestRenderKeeps(t *testing.T) {
	first := Plan{OS: "linux", Role: "web", Settings: []Step{
		{Name: "net.core.somaxconn", Mechanism: setting.Sysctl, Value: "4096", Where: Where{File: LinuxSysctl, Runtime: true}, Reason: "one"},
		{Name: "net.core.rmem_max", Mechanism: setting.Sysctl, Value: "1", Where: Where{File: LinuxSysctl, Runtime: true}, Reason: "two"}}}
	second := Plan{OS: "linux", Role: "web", Settings: []Step{
		{Name: "net.core.somaxconn", Mechanism: setting.Sysctl, Value: "8192", Where: Where{File: LinuxSysctl, Runtime: true}, Reason: "three"}}}
	a, err := Render(first, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Render(second, map[string]string{LinuxSysctl: a[0].Content})
	if err != nil {
		t.Fatal(err)
	}
	got := b[0].Content
	if strings.Contains(got, "4096") || !strings.Contains(got, "\nnet.core.somaxconn=8192\n") || !strings.Contains(got, "\nnet.core.rmem_max=1\n") {
		t.Errorf("merged file:\n%s", got)
	}
	if again, _ := Render(second, map[string]string{LinuxSysctl: got}); again[0].Content != got {
		t.Errorf("rendering twice changes the file:\n%s", again[0].Content)
	}
}

func FuzzParse(f *testing.F) {
	p, _ := Seal(sample("freebsd"))
	doc, _ := Marshal(p)
	f.Add(doc)
	f.Fuzz(func(t *testing.T, doc []byte) {
		p, err := Parse(doc)
		if err != nil {
			return
		}
		// An accepted plan renders, or the error says why not, with each setting on a separate line.
		files, err := Render(p, nil)
		if err != nil {
			return
		}
		for _, file := range files {
			if !strings.HasPrefix(file.Content, Marker+"\n") {
				t.Errorf("%s has no header that names linerate", file.Path)
			}
		}
	})
}

package fleet

import (
	"strings"
	"testing"
	"time"

	"linerate/internal/audit"
	"linerate/internal/fact"
)

func live(name, value string) fact.Tunable {
	return fact.Tunable{Name: name, Namespace: fact.Kernel, Live: &value}
}

// TestFactsDigest: counters, states and transient interfaces do not change the digest; settings, hardware and
// lines of files do.
func TestFactsDigest(t *testing.T) {
	settable := func(name string) bool { return name != "fs.file-nr" }
	base := func() *fact.Facts {
		return &fact.Facts{OS: fact.Linux, Kernel: "6.12", CPU: fact.CPU{Model: "x", Count: 4}, UptimeSeconds: 1,
			NICs:     []fact.NIC{{Name: "eth0", Kind: fact.KindEthernet, MTU: 1500}, {Name: "veth1", Kind: fact.KindVirtual, MTU: 1500}},
			Settings: []fact.Tunable{live("fs.file-nr", "1 2 3"), live("net.a", "1"), live("net.ipv4.conf.veth1.rp_filter", "1")},
			Counters: []fact.Counter{{Name: "c", Value: 1}}}
	}
	was := FactsDigest(base(), settable)
	for name, c := range map[string]struct {
		change func(*fact.Facts)
		same   bool
	}{
		"nothing":                  {func(*fact.Facts) {}, true},
		"uptime and counters":      {func(f *fact.Facts) { f.UptimeSeconds, f.Counters[0].Value = 9, 9 }, true},
		"a value that nobody sets": {func(f *fact.Facts) { f.Settings[0] = live("fs.file-nr", "4 5 6") }, true},
		"a container's interface":  {func(f *fact.Facts) { f.NICs[1].MTU, f.Settings[2] = 9000, live("net.ipv4.conf.veth1.rp_filter", "2") }, true},
		"a running value":          {func(f *fact.Facts) { f.Settings[1] = live("net.a", "2") }, false},
		"a line of a file": {func(f *fact.Facts) {
			f.Settings[1].Lines = []fact.Line{{File: "/etc/sysctl.conf", Name: "net.a", Value: "1"}}
		}, false},
		"an MTU":    {func(f *fact.Facts) { f.NICs[0].MTU = 9000 }, false},
		"a kernel":  {func(f *fact.Facts) { f.Kernel = "6.13" }, false},
		"more CPUs": {func(f *fact.Facts) { f.CPU.Count = 8 }, false},
	} {
		f := base()
		c.change(f)
		if got := FactsDigest(f, settable); (got == was) != c.same {
			t.Errorf("%s: digest %s, was %s", name, got, was)
		}
	}
}

func TestTextfile(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	st := Status{Groups: []Group{{Role: `a "role"`, OS: "linux", Release: "6.12", Hosts: 3, Errors: 1}}, Sweeps: []Sweep{
		{ID: "runs", Start: at.Add(time.Hour)}, {ID: "ended", Start: at, End: at.Add(90 * time.Second), Reached: 3, Alerts: 2}}}
	text := Textfile(st, []RuleCount{{Rule: "LR-X", Severity: audit.Warning, Role: "web", OS: "linux", Release: "6.12", Hosts: 2}})
	for _, want := range []string{
		`linerate_fleet_hosts{role="a \"role\"",os="linux",release="6.12"} 3`, `linerate_fleet_findings{role="a \"role\"",os="linux",release="6.12",severity="error"} 1`,
		`linerate_fleet_rule_hosts{rule="LR-X",severity="warning",role="web",os="linux",release="6.12"} 2`,
		"linerate_fleet_last_sweep_end_seconds 1700000090", "linerate_fleet_last_sweep_duration_seconds 90", "linerate_fleet_last_sweep_alerts 2",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no line %s in\n%s", want, text)
		}
	}
	if text = Textfile(Status{}, nil); strings.Contains(text, "last_sweep") {
		t.Errorf("without a sweep:\n%s", text)
	}
}

// TestShorten: long texts are cut at a character boundary.
func TestShorten(t *testing.T) {
	if got := shorten(strings.Repeat("é", 400)); len(got) > maxText || !strings.HasSuffix(got, "é…") {
		t.Errorf("%d bytes: %q", len(got), got[len(got)-8:])
	}
}

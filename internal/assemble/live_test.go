package assemble

import (
	"encoding/json"
	"strings"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/instrument"
	"linerate/internal/knob"
	"linerate/internal/live"
	"linerate/internal/setting"
	"linerate/internal/study"
)

// TestFitForProduction: only what the catalogue says can be put back exactly is tried on a
// host that serves: nothing whose value now the kernel would not take.
func TestFitForProduction(t *testing.T) {
	rel, err := release.Parse("6.12.0")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, now, value, want string }{
		{"net.ipv4.tcp_fin_timeout", "60", "17", ""},
		{"net.ipv4.tcp_fin_timeout", "60", "never", "never"},
		{"kernel.modules_disabled", "0", "1", "what it is now, 0, could not be written back"},
		{"net.core.no_such_thing", "0", "1", "not in the catalogue"},
	} {
		f := &fact.Facts{OS: fact.Linux, Release: rel, Settings: []fact.Tunable{{Name: c.name, Namespace: fact.Kernel, Live: &c.now}}}
		if _, err := fitForProduction(f, c.name, c.value); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%s: %v, want %q", c.name, c.value, err, c.want)
		}
	}
}

// TestLiveKey: a limit of pf is no sysctl, and its name in the catalogue stays.
func TestLiveKey(t *testing.T) {
	for name, want := range map[string]knob.Key{
		"pf.conf:timeout.tcp.closing": {Mechanism: setting.PFTimeout, Name: "tcp.closing"},
		"pf.conf:limit.states":        {Mechanism: setting.PFLimit, Name: "states"},
		"net.inet.ip.forwarding":      {Mechanism: setting.Sysctl, Name: "net.inet.ip.forwarding"},
	} {
		if key, catalogued := liveKey(&fact.Facts{OS: fact.FreeBSD}, study.SysctlTo(name, "1")); key != want || catalogued != name {
			t.Errorf("%s is %+v, %s", name, key, catalogued)
		}
	}
}

// Each of pf's timeouts of states can be tried on a host that serves; those that pf derives from
// its limit of states, or rounds, are not in the catalogue.
func TestTimeoutsFitForProduction(t *testing.T) {
	rel, err := release.Parse("14.0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fact.Facts{OS: fact.FreeBSD, Release: rel}
	for name, fits := range map[string]bool{"tcp.closing": true, "tcp.established": true, "udp.multiple": true, "adaptive.start": false, "interval": false} {
		if _, err := fitForProduction(f, "pf.conf:timeout."+name, "20"); (err == nil) != fits {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTheRecordHasTheWay: how a window counted the kernel's time stands in the record of a
// study, by which it is refused to go on another way.
func TestTheRecordHasTheWay(t *testing.T) {
	s := study.Spec{Control: "as-is", Parts: []study.Part{{Name: "live", Mode: study.SwitchbackMode, Live: &study.Terms{Window: 60, Watch: []string{"softirq-per-packet"}}}}}
	w := live.Window{Arm: study.Control, Window: study.Window{Pair: 1, Half: 1, KernelTime: instrument.ByTracepoints}}
	line, err := json.Marshal(TrialOf(s, w))
	if err != nil || !strings.Contains(string(line), `"kernel_time":"tracepoints"`) {
		t.Fatalf("%s, %v", line, err)
	}
	var read study.Trial
	if err := json.Unmarshal(line, &read); err != nil {
		t.Fatal(err)
	}
	o := live.Options{Metrics: []string{"softirq-per-packet"}, Done: WindowsOf(s, []study.Trial{read}), KernelLacks: "tracepoints: none here"}
	if err := live.Check(t.Context(), o); err == nil || !strings.Contains(err.Error(), "by tracepoints so far") || !strings.Contains(err.Error(), "none here") {
		t.Errorf("it goes on by ticks: %v", err)
	}
}

package fact

import (
	"encoding/json"
	"strconv"
	"testing"
)

func line(m Mechanism, file string, n int, name, value string) Line {
	return Line{File: file, Number: n, Name: name, Value: value, Mechanism: m, Order: n, Effective: true}
}

func TestLastLineOfAMechanismWins(t *testing.T) {
	var f Facts
	f.AddLines([]Line{
		line(Loader, "/boot/loader.conf", 1, "net.inet.tcp.tso", "1"),
		line(Loader, "/boot/loader.conf.local", 2, "net.inet.tcp.tso", "0"),
		line(Sysctl, "/etc/sysctl.conf", 1, "net.inet.tcp.tso", "1"),
	})
	f.AddLines([]Line{line(RCConf, "/etc/rc.conf", 1, "gateway_enable", "Yes")})
	f.Normalise()
	s, ok := f.Setting("net.inet.tcp.tso")
	if !ok || len(s.Lines) != 3 {
		t.Fatalf("setting %+v, %v", s, ok)
	}
	if l, _ := s.EffectiveLine(Loader); l.Value != "0" {
		t.Errorf("effective loader line %+v, want the later file's", l)
	}
	if l, _ := s.FromFiles(); l.Mechanism != Sysctl {
		t.Errorf("after a boot %+v stands, want sysctl.conf's", l)
	}
	if v, ok := f.Value("net.inet.tcp.tso"); !ok || v != "1" {
		t.Errorf("Value = %q, %v", v, ok)
	}
	if !f.RCYes("gateway_enable") || f.RCYes("pf_enable") {
		t.Error("RCYes reads YES in any case, and nothing as NO")
	}
	if _, ok := f.Setting("gateway_enable"); ok {
		t.Error("an rc.conf variable is no kernel setting")
	}
	if got := f.Lines(); len(got) != 4 || got[0].File != "/boot/loader.conf" {
		t.Errorf("Lines() = %+v", got)
	}
}

func TestIgnoredLineDoesNotUnseatAnother(t *testing.T) {
	var f Facts
	second := line(RCConf, "/etc/rc.conf", 2, "x", "2")
	second.Effective = false
	f.AddLines([]Line{line(RCConf, "/etc/rc.conf", 1, "x", "1"), second})
	if v, _ := f.RCValue("x"); v != "1" {
		t.Errorf("x = %q, want the effective line's value", v)
	}
}

func TestLiveValueStandsBeforeFiles(t *testing.T) {
	running := "7"
	f := Facts{Settings: []Setting{{Name: "a.b", Namespace: Kernel, Live: &running}}}
	f.AddLines([]Line{line(Sysctl, "/etc/sysctl.conf", 1, "a.b", "8")})
	f.Normalise()
	if v, _ := f.Value("a.b"); v != "7" || !f.Live() {
		t.Errorf("Value = %q, live %v", v, f.Live())
	}
}

func TestFactsRoundTrip(t *testing.T) {
	var f Facts
	f.AddLines([]Line{line(Loader, "/boot/loader.conf", 1, "hw.ix.enable_aim", "1")})
	f.Normalise()
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var back Facts
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if back.Version != Version || len(back.Settings) != 1 || back.Settings[0].Lines[0].Value != "1" {
		t.Errorf("came back as %+v", back)
	}
}

func TestHostileSizesStayLinear(t *testing.T) {
	var f Facts
	lines := make([]Line, 100_000)
	for i := range lines {
		lines[i] = line(Loader, "/boot/loader.conf", i+1, "a.b", "1")
	}
	f.AddLines(lines)
	if l, _ := f.Settings[0].EffectiveLine(Loader); l.Number != len(lines) {
		t.Errorf("line %d stands", l.Number)
	}
	for i := range 2 * maxCounters {
		f.AddCounter("c"+strconv.Itoa(i), 1, "x")
	}
	if len(f.Counters) != maxCounters {
		t.Errorf("%d counters", len(f.Counters))
	}
}

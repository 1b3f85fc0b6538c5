package fact

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func line(m Stage, file string, n int, name, value string) Line {
	return Line{File: file, Number: n, Name: name, Value: value, Stage: m, Order: n, Effective: true}
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
	s, ok := f.Tunable("net.inet.tcp.tso")
	if !ok || len(s.Lines) != 3 {
		t.Fatalf("setting %+v, %v", s, ok)
	}
	if l, _ := s.EffectiveLine(Loader); l.Value != "0" {
		t.Errorf("effective loader line %+v, want the later file's", l)
	}
	if s.Lines[0].Effective || !s.Lines[1].Effective || !s.Lines[2].Effective {
		t.Errorf("effective lines %+v, want one per stage", s.Lines)
	}
	if l, _ := s.Stands(); l.Stage != Sysctl {
		t.Errorf("after a boot the effective line is %+v, want sysctl.conf's", l)
	}
	if v, ok := f.Value("net.inet.tcp.tso"); !ok || v != "1" {
		t.Errorf("Value = %q, %v", v, ok)
	}
	if !f.RCYes("gateway_enable") || f.RCYes("pf_enable") {
		t.Error("RCYes must accept YES in any case, and treat an unset variable as NO")
	}
	if _, ok := f.Tunable("gateway_enable"); ok {
		t.Error("an rc.conf variable was found as a kernel setting")
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
	f := Facts{Settings: []Tunable{{Name: "a.b", Namespace: Kernel, Live: &running}}}
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
		lines[i].Adds = i%2 == 1
	}
	f.AddLines(lines)
	if l, _ := f.Settings[0].EffectiveLine(Loader); l.Number != len(lines) {
		t.Errorf("line %d is effective, want the last one", l.Number)
	}
	kept := slices.DeleteFunc(slices.Clone(f.Settings[0].Lines), func(l Line) bool { return !l.Kept })
	if len(kept) != 1 || kept[0].Number != len(lines)-1 {
		t.Errorf("%d lines are kept, the last one's base alone should be", len(kept))
	}
	for i := range 2 * maxCounters {
		f.AddCounter("c"+strconv.Itoa(i), 1, "x")
	}
	if len(f.Counters) != maxCounters {
		t.Errorf("%d counters", len(f.Counters))
	}
}

// TestKeptLines: a line that appends to the one before keeps that one; a line that assigns anew
// unmarks all lines that its stage kept, also those of earlier files, but none of other stages.
func TestKeptLines(t *testing.T) {
	add := func(l Line) Line { l.Adds = true; return l }
	for name, c := range map[string]struct {
		files [][]Line
		kept  string // numbers of the kept lines
	}{
		"one":                      {[][]Line{{line(RCConf, "a", 1, "x", "1")}}, ""},
		"added to twice":           {[][]Line{{line(RCConf, "a", 1, "x", "1"), add(line(RCConf, "a", 2, "x", "2")), add(line(RCConf, "a", 3, "x", "3"))}}, "1 2"},
		"set anew":                 {[][]Line{{line(RCConf, "a", 1, "x", "1"), add(line(RCConf, "a", 2, "x", "2")), line(RCConf, "a", 3, "x", "3")}}, ""},
		"set anew, then added to":  {[][]Line{{line(RCConf, "a", 1, "x", "1"), add(line(RCConf, "a", 2, "x", "2")), line(RCConf, "a", 3, "x", "3"), add(line(RCConf, "a", 4, "x", "4"))}}, "3"},
		"added to in a later file": {[][]Line{{line(RCConf, "a", 1, "x", "1")}, {add(line(RCConf, "b", 2, "x", "2"))}}, "1"},
		"set anew in a later file": {[][]Line{{line(RCConf, "a", 1, "x", "1"), add(line(RCConf, "a", 2, "x", "2"))}, {line(RCConf, "b", 3, "x", "3")}}, ""},
		"another stage":            {[][]Line{{line(Loader, "a", 1, "x", "1"), add(line(Loader, "a", 2, "x", "2")), line(Sysctl, "b", 3, "x", "3"), line(Sysctl, "b", 4, "x", "4")}}, "1"},
	} {
		var f Facts
		for _, lines := range c.files {
			f.AddLines(lines)
		}
		var kept []string
		for _, l := range f.Settings[0].Lines {
			if l.Kept {
				kept = append(kept, strconv.Itoa(l.Number))
			}
		}
		if got := strings.Join(kept, " "); got != c.kept {
			t.Errorf("%s: lines %q are kept, want %q", name, got, c.kept)
		}
	}
}

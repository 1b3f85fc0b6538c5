package judge_test

import (
	"fmt"
	"testing"

	"linerate/internal/sharedtest"

	"linerate/catalogue"
	"linerate/internal/audit"
	"linerate/internal/evidence"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/judge"
	"linerate/internal/stats"
)

// host has one line of sysctl.conf, and the CPU on which studies ran.
func host(t *testing.T, os, rel, name, value string) judge.Input {
	t.Helper()
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	rules, err := audit.LoadRules(sharedtest.Catalogue())
	if err != nil {
		t.Fatal(err)
	}
	f := &fact.Facts{OS: os, MachineID: "m1", Release: release.MustParse(rel), CPU: fact.CPU{Model: "Intel(R) Atom(TM) CPU C2758"}, Memory: fact.Memory{Physical: 16 << 30}}
	if name != "" {
		f.AddLines([]fact.Line{{File: "/etc/sysctl.conf", Number: 7, Name: name, Value: value, Text: name + "=" + value, Stage: fact.Sysctl, Effective: true}})
	}
	f.Normalise()
	r, err := audit.Run(audit.Input{Facts: f, Catalogue: c, Rules: rules, Role: "router"})
	if err != nil {
		t.Fatal(err)
	}
	return judge.Input{Facts: f, Catalogue: c, Role: "router", Findings: r.Findings}
}

// measured is a verdict on net.inet.ip.redirect.
func measured(before, after string, v stats.Verdict, n int, primary bool) evidence.Row {
	effect := map[stats.Verdict]float64{stats.Better: 5, stats.Worse: -5}[v]
	return evidence.Row{StudyID: fmt.Sprint(v, n, primary), Metric: "forwarding_rate", Primary: primary, Subject: evidence.Subject{MachineID: "m1", Tunable: "net.inet.ip.redirect", Before: before, After: after, Alone: true, OS: "freebsd", Release: "14.2", CPU: "Atom C2758"},
		Result: stats.Result{N: n, Verdict: v, Effect: stats.Effect{EffectPercent: stats.Num(effect), CILow: stats.Num(effect - 10/float64(n)), CIHigh: stats.Num(effect + 10/float64(n))}}}
}

func TestJudgements(t *testing.T) {
	for _, c := range []struct {
		what, os, rel, name, value string
		rows                       []evidence.Row
		do                         judge.Do
		to                         string
		basis                      judge.Basis
	}{
		{"a name that is gone", "freebsd", "14.3", "net.inet.tcp.inflight.enable", "1", nil, judge.Remove, "", judge.System},
		{"a value that the kernel refuses", "freebsd", "14.3", "net.inet.tcp.syncookies", "yes", nil, judge.Decide, "", judge.System},
		{"nothing known against it", "freebsd", "14.3", "net.inet.ip.redirect", "0", nil, judge.Keep, "", judge.Known},
		{"a clear gain from the default", "freebsd", "14.3", "", "", []evidence.Row{measured("1", "0", stats.Better, 20, true)}, judge.Set, "0", judge.Measured},
		{"the way back", "freebsd", "14.3", "", "", []evidence.Row{measured("0", "1", stats.Worse, 20, true)}, judge.Set, "0", judge.Measured},
		{"one gain beside many without", "freebsd", "14.3", "", "", []evidence.Row{measured("1", "0", stats.Better, 6, true), measured("1", "0", stats.Equivalent, 40, true)}, judge.Keep, "", judge.Measured},
		{"a gain in a secondary metric", "freebsd", "14.3", "", "", []evidence.Row{measured("1", "0", stats.Equivalent, 20, true), measured("1", "0", stats.Better, 20, false)}, judge.Keep, "", judge.Measured},
		{"evidence that conflicts", "freebsd", "14.3", "", "", []evidence.Row{measured("1", "0", stats.Better, 20, true), measured("1", "0", stats.Worse, 20, true)}, judge.Measure, "0", judge.Measured},
	} {
		in := host(t, c.os, c.rel, c.name, c.value)
		in.Evidence = c.rows
		name := c.name
		if name == "" {
			name = "net.inet.ip.redirect"
		}
		x := judge.New(in).Of(name)
		if x.Do != c.do || x.To != c.to || x.Basis != c.basis && len(c.rows) > 0 {
			t.Errorf("%s: %s %q (%s): %s; want %s %q (%s)", c.what, x.Do, x.To, x.Basis, x.Why, c.do, c.to, c.basis)
		}
	}
}

// TestStanding: the value that runs, else the files', else the default.
func TestStanding(t *testing.T) {
	in := host(t, "freebsd", "14.3", "net.inet.ip.redirect", "0")
	if s := judge.New(in).Of("net.inet.ip.redirect").Stands; s != (judge.Standing{Value: "0", Origin: "/etc/sysctl.conf:7", Known: true}) {
		t.Errorf("of a file: %+v", s)
	}
	if s := judge.New(in).Of("net.inet.ip.sourceroute").Stands; s != (judge.Standing{Value: "0", Origin: "default", Known: true}) {
		t.Errorf("of no file: %+v", s)
	}
	live := "1"
	in.Facts.Settings[0].Live = &live
	if s := judge.New(in).Of("net.inet.ip.redirect").Stands; s.Value != "1" || !s.Fleeting {
		t.Errorf("runs with another: %+v", s)
	}
}

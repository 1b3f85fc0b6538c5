package main

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/stats"
	"linerate/internal/study"
	"linerate/internal/study/ways/kernel"
)

var threeSettings = question{settings: []study.Setting{kernel.SysctlTo("net.ipv4.tcp_fin_timeout", "17"), kernel.SysctlTo("net.core.somaxconn", "9"), kernel.SysctlTo("net/ipv4/conf/eth0.100/RP_filter", "0")}}

// Each setting is left out of all of them once, and the control has them all.
func TestLeavingOutEach(t *testing.T) {
	variants := threeSettings.each().variants()
	if len(variants) != 4 || variants[0].Name != "all" || len(variants[0].Settings) != 3 {
		t.Fatalf("%+v", variants)
	}
	for i, v := range variants[1:] {
		gone := threeSettings.settings[i]
		if len(v.Settings) != 2 || slices.ContainsFunc(v.Settings, func(s study.Setting) bool { return nameOf(s) == nameOf(gone) }) || strings.Trim(v.Name, "abcdefghijklmnopqrstuvwxyz0123456789._-") != "" {
			t.Errorf("without %s: %+v", nameOf(gone), v)
		}
	}
}

func TestWhatAPlanNeeds(t *testing.T) {
	r := study.Results{}
	for i, verdict := range []stats.Verdict{stats.Worse, stats.Equivalent, stats.Inconclusive} {
		v := study.Verdict{Primary: true, Variant: withoutName(i, threeSettings.settings[i])}
		v.Verdict = verdict
		r.Verdicts = append(r.Verdicts, v)
	}
	var b strings.Builder
	writeNeeded(&b, threeSettings, r)
	for _, want := range []string{"tcp_fin_timeout=17  needed: worse", "somaxconn=9  not needed", "RP_filter=0  not known: inconclusive"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in %s", want, &b)
		}
	}
	if isBetter(r) || isBetter(study.Results{}) {
		t.Error("better")
	}
	for i := range r.Verdicts {
		r.Verdicts[i].Verdict = stats.Better
	}
	if !isBetter(r) {
		t.Error("not better")
	}
}

// Two studies that begin in the same second have a directory each.
func TestTwoStudiesInOneSecond(t *testing.T) {
	t.Chdir(t.TempDir())
	seed := uint64(1)
	s := study.Spec{Name: "prove", Seed: &seed}
	paths := map[string]bool{}
	for range 5 {
		dir, err := newRecord("", s)
		if err != nil {
			t.Fatal(err)
		}
		dir.Close()
		paths[dir.Path] = true
	}
	if len(paths) != 5 {
		t.Errorf("%v", paths)
	}
}

// TestProveFlags: hours, shares and margins as people write them, and what is wrong with them
// before anything is asked or touched.
func TestProveFlags(t *testing.T) {
	args := []string{"prove", "net.ipv4.tcp_fin_timeout=17", "--metric", "drops", "--window", "5m"}
	for _, c := range []struct{ flags, want string }{
		{"--hours 01:00-05:00x", `--hours: "01:00-05:00x" are no hours`},
		{"--hours 01:00-01:05", "have no room for a pair of windows"},
		{"--max-share 60%", "--max-share: "},
		{"--max-share a", "want a percentage, such as 25%"},
		{"--time 2h --hours 01:00-05:00 --max-share 1%", "cannot decide"},
	} {
		var b strings.Builder
		root := newRootCmd()
		root.SetArgs(append(slices.Clone(args), strings.Fields(c.flags)...))
		root.SetOut(&b)
		root.SetErr(&b)
		if err := root.Execute(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.flags, err, c.want)
		}
	}
	var f proveFlags
	for _, text := range []string{"25%", "25 %", "25"} {
		if err := f.share.Set(text); err != nil || f.share != 25 || f.share.String() != "25%" {
			t.Errorf("%q is %v: %v", text, f.share, err)
		}
	}
}

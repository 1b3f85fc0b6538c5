package study_test

import (
	"slices"
	"testing"

	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/studies"
)

// builtIn reads a built-in study.
func builtIn(t *testing.T, name string) study.Spec {
	t.Helper()
	data, err := studies.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := study.Parse(name+".yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// lab returns the availability of a lab on a system.
func lab(system, noLeave string) study.Availability {
	return study.Availability{Place: "this lab", System: system, NoLeave: noLeave}
}

// TestWhyAVariantCannotBeTried: each reason, in order of precedence.
func TestWhyAVariantCannotBeTried(t *testing.T) {
	s := builtIn(t, "overload")
	lacks := lab("linux", "")
	lacks.Lacks = func(set study.Setting) string {
		if set.Is(setting.Sysctl) {
			return "no such sysctl"
		}
		return ""
	}
	for _, c := range []struct {
		at            study.Availability
		variant, want string
	}{
		{lab("freebsd", " and waits"), "softirq", "it needs a DUT of linux, this lab is of freebsd"},
		{lab("linux", " and waits"), "long-backlog", "sysctl net.core.netdev_max_backlog=10000 is global to the kernel and waits"},
		{lab("linux", ""), "long-backlog", ""}, {lab("", ""), "softirq", ""}, {lab("linux", " and waits"), "none", ""},
		{lacks, "long-backlog", "sysctl net.core.netdev_max_backlog=10000: no such sysctl"},
	} {
		v, ok := s.Variant(c.variant)
		if got := c.at.Why(v); got != c.want || !ok {
			t.Errorf("%s at %+v: %q, want %q", c.variant, c.at, got, c.want)
		}
	}
}

// TestNoAnswer: a study without a variant that the lab can run has no answer there.
func TestNoAnswer(t *testing.T) {
	for _, c := range []struct{ study, system, want string }{
		{"entropy", "linux", "it needs a DUT of freebsd, this lab is of linux"},
		{"entropy", "freebsd", ""}, {"overload", "freebsd", ""}, {"firewall-rules", "linux", ""},
	} {
		if got := lab(c.system, " and waits").NoAnswer(builtIn(t, c.study)); got != c.want {
			t.Errorf("%s on %s: %q, want %q", c.study, c.system, got, c.want)
		}
	}
}

// TestWaitsForLeave: permission to change the host helps if a variant of this system waits for it,
// not if only another system's does.
func TestWaitsForLeave(t *testing.T) {
	for _, c := range []struct {
		study, system string
		some, all     bool
	}{
		{"overload", "linux", true, false}, {"overload", "freebsd", false, false},
		{"interrupts", "freebsd", true, true}, {"interrupts", "linux", false, false}, {"demo", "linux", false, false},
	} {
		s, at := builtIn(t, c.study), lab(c.system, " and waits")
		if got := slices.ContainsFunc(s.Variants, at.Waits); got != c.some {
			t.Errorf("%s on %s: some variant waits: %v", c.study, c.system, got)
		}
		if got := at.AllWait(s); got != c.all {
			t.Errorf("%s on %s: all variants wait: %v", c.study, c.system, got)
		}
	}
	s := builtIn(t, "interrupts")
	s.Testbed.Kind = study.KindLive
	if at := lab("freebsd", " and waits"); at.AllWait(s) || len(at.LeftOut(s)) > 0 {
		t.Error("variants wait for permission although none of the study needs it")
	}
}

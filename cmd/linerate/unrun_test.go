package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"linerate/internal/assemble"
	"linerate/internal/knob"
	"linerate/internal/study"
)

// jailsLack is what jails of FreeBSD have nothing for, on every system.
func jailsLack(s study.Setting) string { return knob.Never(s.Setting()) }

func TestAScheduleIsOfWhatRunsHere(t *testing.T) {
	s, err := findStudy("overload")
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(5)
	s.Seed = &seed
	var page bytes.Buffer
	if err := printSchedule(&page, s, leftOut(s, "freebsd", false, jailsLack), false); err != nil {
		t.Fatal(err)
	}
	schedule, notes, _ := strings.Cut(page.String(), "not here: ")
	for _, v := range []string{"none", "rules-2000", " aa"} {
		if !strings.Contains(schedule, v) {
			t.Errorf("%s is not in the schedule:\n%s", v, schedule)
		}
	}
	for _, v := range []string{"busy-poll", "softirq", "small-budget", "rps"} {
		if strings.Contains(schedule, v) {
			t.Errorf("%s is in the schedule of a lab of FreeBSD", v)
		}
		if !strings.Contains("not here: "+notes, "not here: "+v+": it needs a DUT of linux, this lab is of freebsd\n") {
			t.Errorf("nothing says why %s is not there:\n%s", v, notes)
		}
	}
}

func TestWhatWaitsForLeaveIsSaid(t *testing.T) {
	s, err := findStudy("overload")
	if err != nil {
		t.Fatal(err)
	}
	some := func(gone []unrun) string {
		for _, u := range gone {
			if u.Variant == "long-backlog" {
				return u.Reason
			}
		}
		return ""
	}
	if why := some(leftOut(s, "linux", false, assemble.Lacks)); !strings.Contains(why, "--allow-host-settings") {
		t.Errorf("without leave: %q", why)
	}
	if why := some(leftOut(s, "linux", true, assemble.Lacks)); why != "" {
		t.Errorf("with leave it runs: %q", why)
	}
}

// TestAListSaysWhatIsNotHere: a study of which a lab has no variant is told so in
// the list, before somebody runs it.
func TestAListSaysWhatIsNotHere(t *testing.T) {
	none := func(study.Setting) string { return "" }
	all := func(study.Spec) error { return nil }
	for _, c := range []struct{ study, system, want string }{
		{"entropy", "linux", "it needs a DUT of freebsd, this lab is of linux"},
		{"entropy", "freebsd", ""}, {"overload", "freebsd", ""}, {"firewall-rules", "linux", ""},
	} {
		s, err := findStudy(c.study)
		if err != nil {
			t.Fatal(err)
		}
		if got := unanswered(s, c.system, all, none); got != c.want {
			t.Errorf("%s on %s: %q, want %q", c.study, c.system, got, c.want)
		}
		refused := errors.New("asks servers")
		if got := unanswered(s, c.system, func(study.Spec) error { return refused }, none); got != refused.Error() {
			t.Errorf("%s that a lab refuses: %q", c.study, got)
		}
	}
}

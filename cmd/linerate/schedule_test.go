package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"linerate/internal/knob"
	"linerate/internal/study"
)

// jails has the availability of a FreeBSD jail lab, on every system.
var jails = study.Availability{Place: "this lab", System: "freebsd", Lacks: func(s study.Setting) string { return knob.Never(s.Setting()) }}

func TestAScheduleIsOfWhatRunsHere(t *testing.T) {
	s, err := findStudy("overload")
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(5)
	s.Seed = &seed
	var page bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetOut(&page)
	if err := printSchedule(cmd, s, jails.LeftOut(s)); err != nil {
		t.Fatal(err)
	}
	schedule, notes, _ := strings.Cut(page.String(), "not here: ")
	for _, v := range []string{"none", "rules-2000", " aa"} {
		if !strings.Contains(schedule, v) {
			t.Errorf("%s is not in the schedule:\n%s", v, schedule)
		}
	}
	for _, v := range []string{"softirq", "small-budget", "rps"} {
		if strings.Contains(schedule, v) {
			t.Errorf("%s needs Linux but is in the schedule of a FreeBSD lab", v)
		}
		if !strings.Contains("not here: "+notes, "not here: "+v+": it needs a DUT of linux, this lab is of freebsd\n") {
			t.Errorf("nothing says why %s is not there:\n%s", v, notes)
		}
	}
}

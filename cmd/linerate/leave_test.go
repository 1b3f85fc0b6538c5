package main

import (
	"testing"

	"linerate/internal/study"
	"linerate/studies"
)

// TestLeaveHelps: leave to change the host is advised where a variant of this
// system's waits for it, and not where only another's would.
func TestLeaveHelps(t *testing.T) {
	for _, c := range []struct {
		study, system string
		want          bool
	}{
		{"overload", "linux", true}, {"overload", "freebsd", false},
		{"interrupts", "freebsd", true}, {"interrupts", "linux", false}, {"demo", "linux", false},
	} {
		text, err := studies.Read(c.study)
		if err != nil {
			t.Fatal(err)
		}
		s, err := study.Parse(c.study+".yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		if got := leaveHelps(s, c.system); got != c.want {
			t.Errorf("%s on %s: advised %v", c.study, c.system, got)
		}
	}
}

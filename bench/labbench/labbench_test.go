package labbench

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"linerate/internal/lab"
	"linerate/internal/lab/forward"
	"linerate/internal/lab/runtest"
	"linerate/internal/show"
	"linerate/internal/testbed/bedtest"
)

// TestRun on a simulated testbed whose clock moves with traffic only: every phase has
// its studies, none finds something in nothing that is not there, and a hundred rules are found.
func TestRun(t *testing.T) {
	sim := &bedtest.Turns{Simulated: &bedtest.Simulated{Noise: 0.001, Seed: 1}}
	var talk bytes.Buffer
	b := &Bench{Talk: &talk, Label: "a simulation", Budget: 30 * time.Second,
		Lab: &lab.Lab{Machine: sim.Simulated, Runners: []lab.Runner{&forward.Runner{Bed: runtest.On(sim.Simulated), Engine: sim}}}}
	r, err := b.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.AA) != 2 || r.AA[0].Studies == 0 || r.AA[1].Studies == 0 || !r.AA[0].HalfWidth.Known() {
		t.Errorf("A/A: %+v", r.AA)
	}
	if r.Alarms.Studies < alarmPairs || 4*r.Alarms.Found > r.Alarms.Studies {
		t.Errorf("comparisons of nothing: %+v", r.Alarms)
	}
	if last := r.Planted[len(r.Planted)-1]; last.Rules != 100 || last.Of == 0 || last.Found != last.Of {
		t.Errorf("planted: %+v", r.Planted)
	}
	p := show.NewPage(show.Style{Width: 100})
	r.Page(p)
	for _, want := range []string{"a simulation", "slice by slice", "one after the other", "Comparisons of nothing"} {
		if !strings.Contains(p.String(), want) {
			t.Errorf("%q is not in\n%s", want, p)
		}
	}
	if strings.Contains(p.String(), "NaN") {
		t.Errorf("%s", p)
	}
}

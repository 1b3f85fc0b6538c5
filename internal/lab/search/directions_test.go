package search

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"linerate/internal/lab"
	packets "linerate/internal/lab/forward"
	"linerate/internal/study"
	"linerate/internal/testbed"
	"linerate/internal/testbed/bedtest"
)

const bothSpec = `name: both
question: What do both directions cost?
variants: [{name: none}, {name: rules, settings: [{firewall: {linear: 100}}]}]
parts:
  - {name: one, mode: overload, rate: 100kpps, blocks: 2, seconds: 0.5}
  - {name: both, mode: overload, rate: 100kpps, directions: both, blocks: 2, seconds: 0.5}
  - {name: found, mode: overload, directions: both, blocks: 2, seconds: 0.5, search: {method: rfc2544}}
`

// TestBothDirectionsAreOfferedAtOnce: the rate applies to each direction, the account covers both, and so do a
// search's loads.
func TestBothDirectionsAreOfferedAtOnce(t *testing.T) {
	s := bedtest.Parse(t, bothSpec)
	trials, out, err := simulate(t, &bedtest.Simulated{Seed: 1}, lab.Task{Spec: s, Seed: 5})
	if err != nil || len(out.Unavailable) > 0 {
		t.Fatal(err, out.Unavailable)
	}
	rates := map[string]float64{}
	for _, tr := range trials {
		if !tr.Valid {
			t.Errorf("%s %s: %v", tr.Part, tr.Variant, tr.Reasons)
		}
		if tr.Variant == "none" {
			rates[tr.Part] = tr.Metrics[study.OfferedRate]
			if tr.Saw().Search != nil {
				rates["most"] = tr.Saw().Search.GeneratorMax
			}
		}
	}
	if math.Abs(rates["one"]-100e3) > 100 || math.Abs(rates["both"]-200e3) > 200 {
		t.Errorf("offered %v, want 100 kpps one way and 200 kpps both", rates)
	}
	// Each simulated generator sends six times what a DUT forwards.
	if each := 6e9 / (bedtest.ForwardNS + bedtest.BypassNS/2); math.Abs(rates["most"]/each-1) > 0.01 {
		t.Errorf("a search's loads end at %.0f, want %.0f: what one generator sends", rates["most"], each)
	}
}

// TestOneWayTestbed: parts with both directions are skipped with a warning on a one-way testbed; the primary
// metric's part must be available.
func TestOneWayTestbed(t *testing.T) {
	s := bedtest.Parse(t, bothSpec)
	trials, out, err := simulate(t, &bedtest.Simulated{Seed: 1, OneWay: "one generator"}, lab.Task{Spec: s, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range trials {
		if tr.Part != "one" {
			t.Errorf("part %s was run", tr.Part)
		}
	}
	r := study.Analyse(s, 5, study.Environment{Unavailable: out.Unavailable}, trials)
	if w := strings.Join(r.Warnings, "\n"); !r.Complete || !strings.Contains(w, "mode overload, both directions at once, is unavailable here: one generator") {
		t.Errorf("complete %v, warnings %s", r.Complete, w)
	}
	primary := strings.Replace(bothSpec, "rate: 100kpps, blocks", "directions: both, rate: 100kpps, blocks", 1)
	if _, _, err := simulate(t, &bedtest.Simulated{OneWay: "one generator"}, lab.Task{Spec: bedtest.Parse(t, primary), Seed: 5}); err == nil || !strings.Contains(err.Error(), "one generator") {
		t.Errorf("an unavailable primary part gave %v", err)
	}
}

// TestDirectionsOfAModeThatIsNotHad: it is unknown what a testbed carries that could not be set up.
func TestDirectionsOfAModeThatIsNotHad(t *testing.T) {
	s := bedtest.Parse(t, strings.Replace(bothSpec, "{name: one, mode: overload, rate: 100kpps", "{name: one, mode: cost", 1))
	sim := &bedtest.Simulated{Seed: 1}
	l := &lab.Lab{Machine: sim, Runners: []lab.Runner{&packets.Runner{Engine: sim, Bed: func(_ context.Context, mode testbed.Mode) (testbed.Bed, error) {
		if sim.Mode = mode; mode == testbed.Overload {
			return nil, errors.New("no second CPU")
		}
		return sim, nil
	}}}}
	l.Runners = append(l.Runners, Runner{l.Runners[0].(*packets.Runner)})
	out, err := l.Run(t.Context(), lab.Task{Spec: s, Seed: 5}, func(study.Trial) error { return nil }, nil)
	if err != nil || len(out.Unavailable) != 1 || out.Unavailable[string(testbed.Overload)] != "no second CPU" {
		t.Errorf("unavailable %v, %v", out.Unavailable, err)
	}
}

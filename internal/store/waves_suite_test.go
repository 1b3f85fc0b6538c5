package store_test

import (
	"errors"
	"reflect"
	"testing"

	"linerate/internal/fleet"
	"linerate/internal/fleet/wedge"
	"linerate/internal/ledger"
	"linerate/internal/stats"
)

// testWaves: a wave's events are kept unchanged and in order, and are found by wave, by name and by machine,
// also after the ledger is opened again.
func testWaves(t *testing.T, s ledger.FleetStore, open openLedger) {
	at := timeOfWave
	event := func(name string, state fleet.WaveState, text string) fleet.WaveEvent {
		return fleet.WaveEvent{Time: at, Name: name, Host: "id-" + name, Source: "ssh://" + name, Become: "sudo", Step: 1, State: state, Digest: "sha256:1", Text: text}
	}
	first := fleet.Wave{ID: "one", Start: at, From: "/plans", Hosts: 2, Options: fleet.WaveOptions{Steps: "1,100%", Parallel: 5, Within: 300, Checks: []string{"https://{host}/"}, Skip: "10%"}}
	must(t, s.BeginWave(t.Context(), first, event("a", fleet.WavePlanned, ""), event("b", fleet.WavePlanned, "")))
	must(t, s.BeginWave(t.Context(), fleet.Wave{ID: "two", Start: at}, event("a", fleet.WavePlanned, "")))
	must(t, s.NoteWave(t.Context(), "one", event("a", fleet.WaveApplying, ""), event("a", fleet.WaveConfirmed, "nul \x00 and \xff")))
	if err := s.NoteWave(t.Context(), "none", event("a", fleet.WavePlanned, "")); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("a wave that does not exist: %v", err)
	}
	if err := s.BeginWave(t.Context(), first); err == nil {
		t.Error("two waves with the same name were accepted")
	}
	if err := s.EndWave(t.Context(), "none", at, fleet.WaveDone, ""); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("the end of a wave that does not exist: %v", err)
	}
	must(t, s.EndWave(t.Context(), "one", at.Add(night), fleet.WaveStopped, "b failed"))
	first.Options.Measure = &wedge.Trial{Metric: "command:./meter", Seed: 1<<53 - 1, Hosts: []wedge.Host{{Name: "a", Wave: 1}}, Periods: []wedge.Period{{Begin: at, Values: []stats.Number{stats.Num(0.1)}}}}
	must(t, s.KeepWave(t.Context(), "one", first.Options))
	if err := s.KeepWave(t.Context(), "none", first.Options); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("measurements of a wave that does not exist: %v", err)
	}
	again := open(t)
	waves, err := again.Waves(t.Context(), 0)
	must(t, err)
	first.Outcome, first.Reason, first.End = fleet.WaveStopped, "b failed", at.Add(night)
	if len(waves) != 2 || waves[0].ID != "two" || !reflect.DeepEqual(waves[1], first) {
		t.Errorf("waves: %+v, want %+v", waves, first)
	}
	must(t, s.EndWave(t.Context(), "one", at, fleet.WaveRuns, ""))
	if waves, err = s.Waves(t.Context(), 2); err != nil || waves[1].Outcome != fleet.WaveRuns || !waves[1].End.IsZero() {
		t.Errorf("a wave in progress: %+v, %v", waves, err)
	}
	for _, c := range []struct {
		f    fleet.WaveFilter
		want int
	}{{fleet.WaveFilter{}, 5}, {fleet.WaveFilter{Wave: "one"}, 4}, {fleet.WaveFilter{Hosts: []string{"a"}}, 4}, {fleet.WaveFilter{Hosts: []string{"x", "id-b"}}, 1}, {fleet.WaveFilter{Wave: "two", Hosts: []string{"b"}}, 0}} {
		got, err := again.WaveEvents(t.Context(), c.f)
		must(t, err)
		if len(got) != c.want {
			t.Errorf("%+v: %d events, want %d", c.f, len(got), c.want)
		}
	}
	events, err := again.WaveEvents(t.Context(), fleet.WaveFilter{Wave: "one"})
	must(t, err)
	last := fleet.Last(events)
	want := event("a", fleet.WaveConfirmed, ledger.Storable("nul \x00 and \xff"))
	want.Seq, want.Wave = events[3].Seq, "one"
	if len(last) != 2 || last[0] != want || last[1].State != fleet.WavePlanned {
		t.Errorf("the hosts' last events: %+v, want %+v", last, want)
	}
}

// timeOfWave is day with the precision of a ledger.
var timeOfWave = day.Truncate(1e6).UTC()

package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/assemble"
	"linerate/internal/assemble/hosts"
	"linerate/internal/cli"
	"linerate/internal/fleet"
	"linerate/internal/fleet/page"
	"linerate/internal/fleet/wedge"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/list"
	"linerate/internal/show"
)

// waveDocument is the output of fleet wave ID --json, and of apply --json for a directory.
type waveDocument struct {
	Version int        `json:"version"`
	Wave    fleet.Wave `json:"wave"`
	// Counts is the number of hosts in each state, Hosts the latest event of each host.
	Counts map[fleet.WaveState]int `json:"counts"`
	Hosts  []fleet.WaveEvent       `json:"hosts"`
	// Looks are the results of an experiment after each wave.
	Looks []wedge.Look `json:"looks,omitempty"`
}

// wavesDocument is the output of fleet wave --json without an ID.
type wavesDocument struct {
	Version int `json:"version"`
	// Waves are ordered newest first.
	Waves []waveLine `json:"waves"`
}

// waveLine is one wave of a list.
type waveLine struct {
	fleet.Wave
	Counts map[fleet.WaveState]int `json:"counts"`
}

func waveOf(ctx context.Context, s ledger.FleetReader, id string) (waveDocument, error) {
	doc := waveDocument{Version: fleetVersion}
	waves, err := s.Waves(ctx, 0)
	if err != nil {
		return doc, err
	}
	i, err := whichWave(waves, id)
	if err != nil {
		return doc, err
	}
	doc.Wave = waves[i]
	events, err := s.WaveEvents(ctx, fleet.WaveFilter{Wave: doc.Wave.ID})
	doc.Hosts = fleet.Last(events)
	doc.Counts = fleet.CountStates(doc.Hosts)
	if t := doc.Wave.Options.Measure; t != nil {
		doc.Looks = t.Looks()
	}
	return doc, err
}

// whichWave finds a wave by its identifier, a unique prefix of it, or "last": the newest wave that
// was not completed.
func whichWave(waves []fleet.Wave, id string) (int, error) {
	var known []string
	found := -1
	for i, w := range waves {
		switch {
		case w.ID == id, id == "last" && w.Outcome != fleet.WaveDone && w.Outcome != fleet.WaveUndone:
			return i, nil
		case id != "" && strings.HasPrefix(w.ID, id) && found == -1:
			found = i
		case id != "" && strings.HasPrefix(w.ID, id):
			found = -2
		}
		known = append(known, w.ID)
	}
	switch {
	case found >= 0:
		return found, nil
	case found == -2:
		return 0, hint.With(hint.Usagef("several waves begin with %q", id), "linerate fleet wave lists them")
	case id == "last":
		return 0, hint.With(hint.Usagef("there is no wave to resume"), "linerate fleet wave lists them")
	}
	return 0, hint.Usage(hint.Unknown("wave", id, known))
}

// withWave opens the ledger and calls f with a wave and the state of its hosts.
func withWave(ctx context.Context, place, id string, f func(ledger.Store, fleet.Wave, []fleet.WaveEvent) error) error {
	return assemble.ChangeLedger(ctx, place, func(s ledger.Store) error {
		doc, err := waveOf(ctx, s, id)
		if err != nil {
			return err
		}
		return f(s, doc.Wave, doc.Hosts)
	})
}

func showWaves(cmd *cobra.Command, s ledger.FleetReader) error {
	waves, err := s.Waves(cmd.Context(), 0)
	if err != nil {
		return err
	}
	doc := wavesDocument{Version: fleetVersion, Waves: []waveLine{}}
	for _, w := range waves {
		events, err := s.WaveEvents(cmd.Context(), fleet.WaveFilter{Wave: w.ID})
		if err != nil {
			return err
		}
		doc.Waves = append(doc.Waves, waveLine{w, fleet.CountStates(fleet.Last(events))})
	}
	return cli.Print(cmd, doc, func(w io.Writer) error { return printWaves(w, doc.Waves) })
}

func printWaves(out io.Writer, waves []waveLine) error {
	if len(waves) == 0 {
		return hint.With(fmt.Errorf("the ledger has no wave"), "linerate plan --hosts FILE --out DIR, then linerate apply DIR, begins one")
	}
	t := show.Table{Header: []string{"WAVE", "BEGAN", "HOSTS", "HAVE IT", "STANDS", ""}, Right: []bool{false, false, true, true}}
	for _, w := range waves {
		t.Add(w.ID, w.Start.Local().Format(time.DateTime), show.Count(w.Hosts), show.Count(w.Counts[fleet.WaveConfirmed]+w.Counts[fleet.WaveChanged]), page.Outcome(w.Wave), show.Clean(w.From))
	}
	return t.Write(out, cli.StyleOf(out))
}

func newFleetWaveCmd() *cobra.Command {
	return reading("fleet wave", cobra.MaximumNArgs(1), func(cmd *cobra.Command, s ledger.Reader, args []string) error {
		if len(args) == 0 {
			return showWaves(cmd, s)
		}
		_, err := printWave(cmd, s, args[0])
		return err
	})
}

func printWave(cmd *cobra.Command, s ledger.FleetReader, id string) (waveDocument, error) {
	doc, err := waveOf(context.WithoutCancel(cmd.Context()), s, id)
	if err != nil {
		return doc, err
	}
	return doc, cli.Answer(cmd, doc, func(p *show.Page) { page.Wave(p, doc.Wave, doc.Hosts) })
}

func rollbackWave(cmd *cobra.Command, r hosts.Remote, place, id string, force bool) error {
	ctx := cmd.Context()
	return withWave(ctx, place, id, func(s ledger.Store, w fleet.Wave, stand []fleet.WaveEvent) error {
		talk := &waveTalk{w: cmd.ErrOrStderr(), quiet: cli.Quiet(cmd.ErrOrStderr())}
		job := hosts.Wave{Wave: w, Remote: hosts.Again(w.Options, r, cmd.Flags().Changed), Store: s, Say: talk.say}
		if err := job.Rollback(ctx, stand, force); err != nil {
			return err
		}
		doc, err := printWave(cmd, s, w.ID)
		if err != nil {
			return err
		}
		if left := list.Count(doc.Hosts, func(h fleet.WaveEvent) bool { return h.State.Has() || h.State.InFlight() }); left > 0 {
			return hint.With(fmt.Errorf("%s of the wave not restored", show.Plural(left, "host")), "the list has the reasons; --force also reverts values that were changed since")
		}
		return nil
	})
}

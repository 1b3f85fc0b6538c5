package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/hosts"
	"linerate/internal/audit"
	"linerate/internal/cli"
	"linerate/internal/fleet"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/rollout"
	"linerate/internal/show"
)

// fleetVersion is the format version of documents about fleets.
const fleetVersion = 1

// worsened holds the conditions under which a command about changes returns ExitFindings.
type worsened struct {
	floor              audit.Severity
	unreachable, drift bool
}

// failOnNews lists the values of --fail-on.
var failOnNews = []string{"new-error", "new-warning", "new-info", "unreachable", "drift"}

// parseFailOn parses the comma-separated value of --fail-on; known lists the allowed words.
func parseFailOn(text string, known []string) (f worsened, err error) {
	for word := range strings.SplitSeq(text, ",") {
		switch {
		case word == "":
		case !slices.Contains(known, word):
			return f, hint.Usage(hint.Unknown("value of --fail-on", word, known))
		case word == "unreachable":
			f.unreachable = true
		case word == "drift":
			f.drift = true
		default:
			f.floor = audit.Severity(strings.TrimPrefix(word, "new-"))
		}
	}
	return f, nil
}

// exit returns the error that sets the exit code if a change meets a condition of f, or nil.
func (f worsened) exit(changes []fleet.Change) error {
	for i := range changes {
		c := &changes[i]
		if c.Alerts() && (c.Kind == fleet.Unreachable && f.unreachable || c.Kind == fleet.Drift && f.drift ||
			c.Kind != fleet.Unreachable && f.floor != "" && c.Severity.AtLeast(f.floor)) {
			return hint.Exit(cli.ExitFindings)
		}
	}
	return nil
}

// noHost turns ErrNotFound into the error for an unknown host.
func noHost(err error, name string) error {
	if errors.Is(err, ledger.ErrNotFound) {
		return hint.With(fmt.Errorf("no host %q is known", name), "linerate fleet status lists the fleet; names are those of its list, hosts' own, or the beginning of an identifier")
	}
	return err
}

// fleetList holds the flags that name the hosts of a fleet.
type fleetList struct{ hosts, ansible, bundles, limit string }

func (l *fleetList) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&l.hosts, "hosts", "", "hosts in `FILE`, one ssh://host per line")
	f.StringVar(&l.ansible, "ansible", "", "hosts in `FILE` of ansible-inventory --list")
	addLimit(cmd, &l.limit)
}

func addLimit(cmd *cobra.Command, limit *string) {
	cmd.Flags().StringVar(limit, "limit", "", "hosts and groups of this `PATTERN`: web*,!web3")
}

// targets reads the list of hosts; from names its source.
func (l *fleetList) targets() (all []fleet.Target, from string, err error) {
	given := 0
	for _, v := range []string{l.hosts, l.ansible, l.bundles} {
		if v != "" {
			given++
			from = v
		}
	}
	if given != 1 {
		return nil, "", hint.With(hint.Usagef("want one list of hosts"), "give --hosts FILE, --ansible FILE or, to sweep captures, --bundles DIR")
	}
	switch {
	case l.hosts != "":
		all, err = hosts.List(l.hosts, fleet.ParseLines)
	case l.ansible != "":
		all, err = hosts.List(l.ansible, fleet.ParseAnsible)
	default:
		all, err = hosts.Bundles(l.bundles)
	}
	if err == nil {
		all, err = fleet.Limit(all, l.limit)
	}
	return all, from, err
}

// waveTalk prints the progress of a wave.
type waveTalk struct {
	mu    sync.Mutex
	w     io.Writer
	quiet bool

	measured bool // the wave is an experiment
}

func (t *waveTalk) say(p rollout.Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch h := p.Host; {
	case t.quiet:
	case h.Name == "":
		fmt.Fprintf(t.w, "%s %d of %d: %s\n", stepWord(t.measured), p.Step, p.Steps, show.Plural(p.Hosts, "host"))
	case h.Text != "":
		fmt.Fprintf(t.w, "  %s %s: %s\n", show.Clean(h.Name), h.State, h.Text)
	case h.State != fleet.WaveApplying:
		fmt.Fprintf(t.w, "  %s %s\n", show.Clean(h.Name), h.State)
	}
}

// writeTextfile writes the metrics file atomically.
func writeTextfile(ctx context.Context, s ledger.FleetReader, file string) error {
	st, err := s.Status(ctx, 10)
	if err != nil {
		return err
	}
	rules, err := s.RuleCounts(ctx, "")
	if err != nil {
		return err
	}
	return writeFile(file, func(w io.Writer) error {
		_, err := io.WriteString(w, fleet.Textfile(st, rules))
		return err
	})
}

// newID returns an identifier for a sweep or a wave: its start time and a random suffix.
func newID() (string, error) {
	var random [2]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", err
	}
	return time.Now().UTC().Format("20060102-150405-") + hex.EncodeToString(random[:]), nil
}

// planFleet holds the flags of plan for several hosts.
type planFleet struct {
	fleetList
	hosts.Pace
	resume bool
}

func (p *planFleet) addFlags(cmd *cobra.Command) {
	p.fleetList.addFlags(cmd)
	f := cmd.Flags()
	f.IntVar(&p.Parallel, "parallel", 64, "hosts to connect to at a time")
	f.IntVar(&p.Tries, "tries", 4, "attempts to reach a host")
	f.BoolVar(&p.resume, "resume", false, "skip hosts that have a plan in the directory")
}

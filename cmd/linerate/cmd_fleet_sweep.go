package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/assemble"
	"linerate/internal/assemble/hosts"
	"linerate/internal/audit"
	"linerate/internal/cli"
	"linerate/internal/fleet"
	"linerate/internal/fleet/page"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/show"
)

// sweepOptions are the flags of `linerate fleet sweep`.
type sweepOptions struct {
	fleetList
	remote hosts.Remote
	hosts.Pace
	ledger, suppress, resume, failOn, textfile string
}

func newFleetSweepCmd() *cobra.Command {
	var o sweepOptions
	cmd := verb("fleet sweep", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error { return runSweep(cmd, &o) })
	addLedgerFlag(cmd, &o.ledger)
	cli.JSONFlag(cmd)
	o.fleetList.addFlags(cmd)
	addRemoteFlags(cmd, &o.remote)
	f := cmd.Flags()
	f.StringVar(&o.bundles, "bundles", "", "audit the captures in `DIR` instead of hosts")
	f.IntVar(&o.Parallel, "parallel", 64, "hosts to connect to at a time")
	f.IntVar(&o.Tries, "tries", 4, "attempts before a host counts as unreachable")
	f.StringVar(&o.suppress, "suppress", "", "`FILE` of findings to hide, with reason and expiry")
	f.StringVar(&o.resume, "resume", "", "continue the sweep with this `ID`, or the last interrupted one")
	f.Lookup("resume").NoOptDefVal = "last"
	f.StringVar(&o.failOn, "fail-on", "", "exit with 3 when hosts got worse by at least this: new-error, new-warning, new-info, unreachable or drift (several by commas)")
	f.StringVar(&o.textfile, "prometheus", "", "write the fleet's metrics to `FILE`, for node_exporter's textfile collector")
	return cmd
}

// sweepDocument is the output of fleet sweep --json.
type sweepDocument struct {
	Version int         `json:"version"`
	Sweep   fleet.Sweep `json:"sweep"`
	// Changes are the changes that the sweep stored.
	Changes []fleet.Change `json:"changes"`
}

func runSweep(cmd *cobra.Command, o *sweepOptions) error {
	fail, err := parseFailOn(o.failOn, failOnNews)
	if err != nil {
		return err
	}
	if o.Parallel < 1 || o.Parallel > 5000 || o.Tries < 1 || o.Tries > 20 {
		return hint.Usagef("--parallel is from 1 to 5000, --tries from 1 to 20")
	}
	targets, from, err := o.targets()
	if err != nil {
		return err
	}
	suppressions, err := readSuppressions(o.suppress)
	if err != nil {
		return err
	}
	var changes []fleet.Change
	var w fleet.Sweep
	err = assemble.WithLedger(cmd.Context(), o.ledger, func(s ledger.Store) error {
		id, err := o.id(cmd.Context(), s)
		if err != nil {
			return err
		}
		p := newSweepProgress(cmd.ErrOrStderr())
		job := hosts.Sweep{Pace: o.Pace, ID: id, From: from, Targets: targets, Remote: o.remote, Suppressions: suppressions, Version: cli.Version(),
			Store: s, Progress: p.update, Changed: func(c []fleet.Change) { changes = append(changes, c...) }}
		w, err = job.Run(cmd.Context())
		p.done()
		if errors.Is(err, context.Canceled) {
			return hint.Left(hint.With(fmt.Errorf("the sweep is interrupted: %w", err), "results so far are stored; continue with the same list and --resume=%s", id))
		}
		if errors.Is(err, ledger.ErrSweepEnded) {
			return hint.With(hint.Usagef("the sweep %s is complete", id), "leave --resume out to begin another")
		}
		if err == nil && o.textfile != "" {
			err = writeTextfile(cmd.Context(), s, o.textfile)
		}
		return err
	})
	if err != nil {
		return err
	}
	if changes == nil {
		changes = []fleet.Change{}
	}
	if err := cli.Answer(cmd, sweepDocument{fleetVersion, w, changes}, func(p *show.Page) { page.Sweep(p, w, changes) }); err != nil {
		return err
	}
	return fail.exit(changes)
}

func readSuppressions(file string) ([]audit.Suppression, error) {
	in, err := auditInput(&auditOptions{suppress: file})
	return in.Suppressions, err
}

// id returns a new sweep's identifier, or that of the sweep to resume.
func (o *sweepOptions) id(ctx context.Context, s ledger.FleetStore) (string, error) {
	if o.resume == "" {
		return newID()
	}
	sweeps, err := s.Sweeps(ctx, 0)
	if err != nil {
		return "", err
	}
	var ids []string
	for _, w := range sweeps {
		if w.ID == o.resume || o.resume == "last" && w.End.IsZero() {
			return w.ID, nil
		}
		ids = append(ids, w.ID)
	}
	if o.resume == "last" {
		return "", hint.With(hint.Usagef("no sweep was interrupted"), "leave --resume out to begin one")
	}
	return "", hint.Usage(hint.Unknown("sweep", o.resume, ids))
}

// sweepProgress prints the progress of a sweep: on a terminal one updated line, elsewhere a line
// per tenth and the unreachable hosts.
type sweepProgress struct {
	w     io.Writer
	live  *show.Live
	style show.Style
	begun time.Time
	tenth int
	told  int
}

// mostTold is the maximum number of hosts listed individually.
const mostTold = 20

func newSweepProgress(w io.Writer) *sweepProgress {
	return &sweepProgress{w: w, live: cli.NewLive(w), style: cli.StyleOf(w), begun: time.Now()}
}

func (p *sweepProgress) update(s hosts.Progress) {
	if s.Failed != "" && !cli.Quiet(p.w) {
		p.told++
		if p.told <= mostTold {
			p.live.End()
			fmt.Fprintf(p.w, "unreachable: %s: %s\n", show.Clean(s.Failed), hosts.About("ssh://"+s.Failed, errors.New(s.Why)))
		} else if p.told == mostTold+1 {
			p.live.End()
			fmt.Fprintln(p.w, "unreachable: more; linerate fleet status has all")
		}
	}
	left := ""
	if done := s.Done(); done > 0 && done < s.Total {
		left = ", " + show.Clock(time.Duration(float64(time.Since(p.begun))*float64(s.Total-done)/float64(done))) + " left"
	}
	line := fmt.Sprintf("%s of %s hosts, %s unreachable, %s to be tried again%s", show.Count(s.Done()), show.Count(s.Total), show.Count(s.Unreachable), show.Count(s.Waiting), left)
	if p.live.On() {
		p.live.Show("%s %s", p.style.Bar(float64(s.Done())/float64(max(1, s.Total)), barWidth), line)
		return
	}
	if tenth := 10 * s.Done() / max(1, s.Total); tenth > p.tenth && !cli.Quiet(p.w) {
		p.tenth = tenth
		fmt.Fprintln(p.w, line)
	}
}

func (p *sweepProgress) done() { p.live.End() }

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/hosts"
	"linerate/internal/cli"
	"linerate/internal/fleet"
	"linerate/internal/fleet/page"
	"linerate/internal/hint"
	"linerate/internal/show"
)

// plannedDocument is the output of plan --hosts --json.
type plannedDocument struct {
	Version int    `json:"version"`
	Dir     string `json:"dir"`
	fleet.PlanSummary
}

// runFleet makes plans for every host of a list.
func (o *planOptions) runFleet(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 0 || o.Root != "":
		return hint.With(hint.Usagef("a host and a list of hosts are two things: choose one"), "add the host to the list")
	case o.out == "":
		return hint.With(hint.Usagef("plans for many hosts need a directory"), "--out DIR")
	case o.fleet.Parallel < 1 || o.fleet.Parallel > 5000 || o.fleet.Tries < 1 || o.fleet.Tries > 20:
		return hint.Usagef("--parallel is from 1 to 5000, --tries from 1 to 20")
	}
	if _, err := o.needs(); err != nil {
		return err
	}
	job := hosts.Plans{Pace: o.fleet.Pace, Dir: o.out, Remote: o.Remote, Resume: o.fleet.resume, Role: o.role, Needs: o.given()}
	var err error
	if job.Planner, err = o.planner(cmd); err != nil {
		return err
	}
	if job.Targets, _, err = o.fleet.targets(); err != nil {
		return err
	}
	progress := newSweepProgress(cmd.ErrOrStderr())
	job.Progress = progress.update
	planned, err := job.Run(cmd.Context())
	progress.done()
	if errors.Is(err, context.Canceled) {
		return hint.Left(hint.With(fmt.Errorf("planning is interrupted: %w", err), "plans so far are kept; continue with the same list and --resume"))
	}
	if err != nil {
		return err
	}
	doc := plannedDocument{fleetVersion, o.out, fleet.Summarise(planned)}
	err = cli.Answer(cmd, doc, func(p *show.Page) {
		s := &doc.PlanSummary
		p.Paragraph("", "", fmt.Sprintf("%s: %s with a plan, %s with nothing to do, %s without a plan. The plans are in %s.", show.Plural(s.Hosts, "host"), show.Count(s.Planned), show.Count(s.Right), show.Count(s.Failed), show.Clean(o.out)))
		page.Plans(p, *s)
		for i, f := range s.Failures {
			if i == page.MostHosts {
				p.Line(fmt.Sprintf("… and %s more without a plan, in the JSON", show.Plural(len(s.Failures)-i, "host")))
				break
			}
			p.Paragraph("no plan of ", "  ", show.Clean(f.Name+": "+f.Failure))
		}
	})
	if err == nil && doc.Failed > 0 && doc.Failed == doc.Hosts {
		err = errors.New("no host could be planned")
	}
	return err
}

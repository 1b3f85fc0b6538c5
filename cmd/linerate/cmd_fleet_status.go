package main

import (
	"cmp"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/audit"
	"linerate/internal/cli"
	"linerate/internal/fleet"
	"linerate/internal/fleet/page"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/show"
)

// fleetStatusDocument is what fleet status prints with --json.
type fleetStatusDocument struct {
	Version int          `json:"version"`
	Status  fleet.Status `json:"status"`
	// Rules say on how many hosts each rule finds something.
	Rules []fleet.RuleCount `json:"rules"`
	// Unreachable are the hosts that cannot be reached, Drifted those that are not as linerate
	// applied it.
	Unreachable []fleet.Host `json:"unreachable"`
	Drifted     []fleet.Host `json:"drifted"`
}

// failOnStanding are the values of --fail-on of fleet status.
var failOnStanding = []string{"drift", "unreachable", "error", "warning", "info"}

// standing is the exit code of a fleet as it stands.
func (f worsened) standing(st *fleet.Status) error {
	of := map[audit.Severity]int{audit.Error: st.Errors, audit.Warning: st.Errors + st.Warnings, audit.Info: st.Errors + st.Warnings + st.Infos}
	if f.drift && st.Drifted > 0 || f.unreachable && st.Unreachable > 0 || of[f.floor] > 0 {
		return hint.Exit(cli.ExitFindings)
	}
	return nil
}

func newFleetStatusCmd() *cobra.Command {
	var o fleetForms
	var failOn string
	cmd := verb("fleet status", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
		fail, err := parseFailOn(failOn, failOnStanding)
		if err != nil {
			return err
		}
		if len(args) > 0 && failOn != "" {
			return hint.Usagef("--fail-on is of the whole fleet: omit %s", args[0])
		}
		return o.read(cmd, func(s ledger.FleetStore) error {
			switch {
			case len(args) == 0:
				return o.showFleet(cmd, s, fail)
			case strings.HasPrefix(args[0], "LR-"):
				return o.showRule(cmd, s, args[0])
			}
			return o.showHost(cmd, s, args[0])
		})
	})
	o.addFlags(cmd)
	cmd.Flags().StringVar(&failOn, "fail-on", "", "exit with 3 while there is `WHAT`: drift, unreachable, error, warning or info (several by commas)")
	return cmd
}

// showFleet prints how the whole fleet stands.
func (o *fleetForms) showFleet(cmd *cobra.Command, s ledger.FleetStore, fail worsened) error {
	ctx := cmd.Context()
	st, err := s.Status(ctx, 10)
	if err != nil {
		return err
	}
	doc := fleetStatusDocument{Version: fleetVersion, Status: st}
	if doc.Rules, err = s.RuleCounts(ctx, ""); err != nil {
		return err
	}
	if doc.Unreachable, err = s.Hosts(ctx, fleet.HostFilter{Unreachable: true}); err != nil {
		return err
	}
	if doc.Drifted, err = s.Hosts(ctx, fleet.HostFilter{Rule: fleet.DriftRule}); err != nil {
		return err
	}
	if st.Hosts == 0 && !cli.AsJSON(cmd) {
		return hint.With(errors.New("the ledger knows of no fleet"), "linerate fleet sweep --hosts FILE begins one")
	}
	err = cli.Answer(cmd, doc, func(p *show.Page) { page.Status(p, &st, doc.Rules, doc.Unreachable, doc.Drifted) })
	return cmp.Or(err, fail.standing(&st))
}

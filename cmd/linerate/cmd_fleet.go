package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/ledgers"
	"linerate/internal/audit"
	"linerate/internal/cli"
	"linerate/internal/fleet"
	"linerate/internal/hint"
	"linerate/internal/ledger"
)

func newFleetCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "audit many hosts every night, and record the changes",
		Long: `A sweep audits all hosts of a fleet and records in the ledger what changed since
the last one: new and resolved findings, unreachable hosts, drifted settings. The
first audit of a host is its baseline, without alerts. Hosts are identified by
machine-id or hostuuid, not by name.

    linerate fleet sweep --hosts hosts.txt
    linerate fleet changes --since 24h
    linerate fleet rule LR-LOWERS-DEFAULT`,
	}
	cmd.AddCommand(newFleetSweepCmd(), newFleetStatusCmd(), newFleetChangesCmd(), newFleetHostCmd(), newFleetRuleCmd(), newFleetForgetCmd(), newFleetWavesCmd(), newFleetWaveCmd())
	return cmd
}

// fleetForms are how the verbs about a fleet print.
type fleetForms struct {
	ledger          string
	asJSON, asSARIF bool
}

func (o *fleetForms) addFlags(cmd *cobra.Command, sarif bool) {
	addLedgerFlag(cmd, &o.ledger)
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print one JSON document")
	if sarif {
		cmd.Flags().BoolVar(&o.asSARIF, "sarif", false, "print one SARIF 2.1.0 log")
	}
}

// read opens the ledger's fleet.
func (o *fleetForms) read(cmd *cobra.Command, f func(ledger.FleetStore) error) error {
	if o.asJSON && o.asSARIF {
		return hint.Usagef("--json and --sarif are two documents: choose one")
	}
	return ledgers.Read(cmd.Context(), o.ledger, func(s ledger.Store) error { return f(s.Fleet()) })
}

// fleetVersion is the version of the documents about fleets.
const fleetVersion = 1

// worsened is what makes a verb about changes end with an exit code of its own.
type worsened struct {
	floor              audit.Severity
	unreachable, drift bool
}

// failOnNews are the values of --fail-on.
var failOnNews = []string{"new-error", "new-warning", "new-info", "unreachable", "drift"}

const failOnNewUsage = "exit with 3 when hosts got worse by at least this: new-error, new-warning, new-info, unreachable or drift (several by commas)"

func parseFailOn(text string) (f worsened, err error) {
	for word := range strings.SplitSeq(text, ",") {
		switch severity, isNew := strings.CutPrefix(word, "new-"); {
		case word == "":
		case word == "unreachable":
			f.unreachable = true
		case word == "drift":
			f.drift = true
		case isNew:
			if f.floor, err = parseSeverity("--fail-on", severity); err != nil {
				return f, hint.Unknown("value of --fail-on", word, failOnNews)
			}
		default:
			return f, hint.Unknown("value of --fail-on", word, failOnNews)
		}
	}
	return f, nil
}

// exit is the exit code of changes, nil where none of them is so bad.
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

// noHost says that a fleet has no host of a name.
func noHost(err error, name string) error {
	if errors.Is(err, ledger.ErrNotFound) {
		return hint.With(fmt.Errorf("no host %q is known", name), "linerate fleet status lists the fleet; names are those of its list, hosts' own, or the beginning of an identifier")
	}
	return err
}

// sarifOf are findings of hosts as an audit would report them.
func sarifOf(hosts []fleet.Host) audit.SARIF {
	var all []audit.SARIFHost
	for _, h := range hosts {
		r := &audit.Report{Version: audit.Version, OS: h.OS, Release: h.Release, Host: h.Hostname, Role: h.Role, RoleReasons: []string{}}
		for _, f := range h.Findings {
			said := audit.Finding{ID: f.ID, Severity: f.Severity, Name: f.Tunable, Message: f.Text, Sources: []string{}}
			if f.Rule == fleet.DriftRule {
				said.Kind, said.Why = audit.Drift, fleet.DriftWords
			}
			r.Findings = append(r.Findings, said)
		}
		all = append(all, audit.SARIFHost{Report: r, Name: h.Name})
	}
	return audit.ToSARIFs(cli.Version(), all...)
}

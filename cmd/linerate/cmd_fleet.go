package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/assemble"
	"linerate/internal/audit"
	"linerate/internal/cli"
	"linerate/internal/fleet"
	"linerate/internal/fleet/page"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/list"
	"linerate/internal/show"
)

// fleetStatusDocument is the output of fleet status --json.
type fleetStatusDocument struct {
	Version int          `json:"version"`
	Status  fleet.Status `json:"status"`
	// Rules is the number of hosts with findings of each rule.
	Rules []fleet.RuleCount `json:"rules"`
	// Unreachable are hosts that cannot be reached, Drifted those whose settings differ from what
	// linerate applied.
	Unreachable []fleet.Host `json:"unreachable"`
	Drifted     []fleet.Host `json:"drifted"`
}

// failOnStanding lists the values of --fail-on of fleet status.
var failOnStanding = []string{"drift", "unreachable", "error", "warning", "info"}

// standing returns the error that sets the exit code if the state of the fleet meets a condition of f.
func (f worsened) standing(st *fleet.Status) error {
	of := map[audit.Severity]int{audit.Error: st.Errors, audit.Warning: st.Errors + st.Warnings, audit.Info: st.Errors + st.Warnings + st.Infos}
	if f.drift && st.Drifted > 0 || f.unreachable && st.Unreachable > 0 || of[f.floor] > 0 {
		return hint.Exit(cli.ExitFindings)
	}
	return nil
}

func newFleetStatusCmd() *cobra.Command {
	var failOn string
	cmd := reading("fleet status", cobra.MaximumNArgs(1), func(cmd *cobra.Command, s ledger.Reader, args []string) error {
		fail, err := parseFailOn(failOn, failOnStanding)
		switch {
		case err != nil:
			return err
		case len(args) == 0:
			return showFleet(cmd, s, fail)
		case failOn != "":
			return hint.Usagef("--fail-on applies to the whole fleet: omit %s", args[0])
		case strings.HasPrefix(args[0], "LR-"):
			return showRule(cmd, s, args[0])
		}
		return showHost(cmd, s, args[0])
	})
	cmd.Flags().StringVar(&failOn, "fail-on", "", "exit with 3 while there is `WHAT`: drift, unreachable, error, warning or info (several by commas)")
	return cmd
}

// showFleet prints the state of the whole fleet.
func showFleet(cmd *cobra.Command, s ledger.FleetReader, fail worsened) error {
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
		return hint.With(errors.New("the ledger has no fleet"), "linerate fleet sweep --hosts FILE begins one")
	}
	err = cli.Answer(cmd, doc, func(p *show.Page) { page.Status(p, &st, doc.Rules, doc.Unreachable, doc.Drifted) })
	return cmp.Or(err, fail.standing(&st))
}

// fleetChangesDocument is the output of fleet changes --json.
type fleetChangesDocument struct {
	Version int       `json:"version"`
	Since   time.Time `json:"since"`
	// Changes are ordered newest first.
	Changes []fleet.Change `json:"changes"`
}

func newFleetChangesCmd() *cobra.Command {
	var since time.Duration
	var kind string
	var worse bool
	cmd := reading("fleet changes", cobra.NoArgs, func(cmd *cobra.Command, s ledger.Reader, _ []string) error {
		f := fleet.ChangeFilter{Kind: fleet.Kind(kind), Since: time.Now().Add(-since)}
		if kind != "" && !slices.Contains(fleet.Kinds(), f.Kind) {
			return hint.Usage(hint.Unknown("kind of change", kind, kindNames()))
		}
		changes, err := s.Changes(cmd.Context(), f)
		if err != nil {
			return err
		}
		if worse {
			changes = slices.DeleteFunc(changes, func(c fleet.Change) bool { return !c.Alerts() })
		}
		return printChanges(cmd, f.Since, changes)
	})
	cmd.Flags().DurationVar(&since, "since", 24*time.Hour, "changes of the last `TIME`, such as 24h")
	cmd.Flags().StringVar(&kind, "kind", "", "only changes of this `KIND`: "+strings.Join(kindNames(), ", "))
	cmd.Flags().BoolVar(&worse, "worse", false, "only alerts: changes for the worse by the hosts themselves")
	return cmd
}

func kindNames() []string {
	return list.Map(fleet.Kinds(), func(k fleet.Kind) string { return string(k) })
}

func printChanges(cmd *cobra.Command, since time.Time, changes []fleet.Change) error {
	return cli.Answer(cmd, fleetChangesDocument{fleetVersion, since.UTC(), changes}, func(p *show.Page) {
		if len(changes) == 0 {
			p.Line("No changes.")
		}
		page.Changes(p, changes)
	})
}

// fleetHostDocument is the output of fleet status HOST --json.
type fleetHostDocument struct {
	Version int        `json:"version"`
	Host    fleet.Host `json:"host"`
	// Wave is the state of the host in its latest wave.
	Wave *fleet.WaveEvent `json:"wave,omitempty"`
	// Changes are ordered newest first.
	Changes []fleet.Change `json:"changes"`
}

func showHost(cmd *cobra.Command, s ledger.FleetReader, name string) error {
	doc, err := hostOf(cmd.Context(), s, name)
	if err != nil {
		return err
	}
	return cli.Answer(cmd, doc, func(p *show.Page) { page.Host(p, &doc.Host, doc.Wave, doc.Changes) })
}

func hostOf(ctx context.Context, s ledger.FleetReader, name string) (fleetHostDocument, error) {
	h, err := s.Host(ctx, name)
	if err != nil {
		return fleetHostDocument{}, noHost(err, name)
	}
	ids := []string{h.ID}
	for _, n := range append([]string{h.Name}, h.Aliases...) {
		if id := fleet.ByName + n; id != h.ID {
			ids = append(ids, id) // changes recorded before the host's machine ID was known
		}
	}
	changes, err := s.Changes(ctx, fleet.ChangeFilter{Hosts: ids, Limit: 1000})
	if err != nil {
		return fleetHostDocument{}, err
	}
	doc := fleetHostDocument{Version: fleetVersion, Host: h, Changes: changes}
	machine, _, _ := strings.Cut(h.ID, "/")
	events, err := s.WaveEvents(ctx, fleet.WaveFilter{Hosts: append([]string{machine, h.Name}, h.Aliases...)})
	if n := len(events); n > 0 {
		doc.Wave = &events[n-1]
	}
	return doc, err
}

// fleetRuleDocument is the output of fleet status RULE --json.
type fleetRuleDocument struct {
	Version int    `json:"version"`
	Rule    string `json:"rule"`
	// On is the number of hosts with a finding of the rule, Of the number of all hosts.
	On int `json:"on"`
	Of int `json:"of"`
	// Counts are by role and release; Hosts are those with a finding.
	Counts []fleet.RuleCount `json:"counts"`
	Hosts  []fleet.Host      `json:"hosts"`
}

// showRule prints the hosts with a finding of a rule.
func showRule(cmd *cobra.Command, s ledger.FleetReader, rule string) error {
	doc, err := ruleOf(cmd.Context(), s, rule)
	if err != nil {
		return err
	}
	return cli.Answer(cmd, doc, func(p *show.Page) { page.Rule(p, doc.Rule, doc.Counts, doc.Hosts, doc.Of) })
}

func ruleOf(ctx context.Context, s ledger.FleetReader, rule string) (fleetRuleDocument, error) {
	doc := fleetRuleDocument{Version: fleetVersion, Rule: rule}
	st, err := s.Status(ctx, 0)
	if err != nil {
		return doc, err
	}
	if doc.Counts, err = s.RuleCounts(ctx, rule); err != nil {
		return doc, err
	}
	if len(doc.Counts) == 0 {
		all, err := s.RuleCounts(ctx, "")
		if err != nil {
			return doc, err
		}
		names := list.Map(fleet.Total(all), func(r fleet.RuleTotal) string { return r.Rule })
		return doc, hint.Unknown("rule, or it finds nothing on any host:", rule, names)
	}
	doc.Of = st.Hosts
	for _, c := range doc.Counts {
		doc.On += c.Hosts
	}
	doc.Hosts, err = s.Hosts(ctx, fleet.HostFilter{Rule: rule})
	return doc, err
}

func newFleetForgetCmd() *cobra.Command {
	var at string
	cmd := verb("fleet forget", cobra.MinimumNArgs(1), func(cmd *cobra.Command, args []string) error {
		return assemble.ChangeLedger(cmd.Context(), at, func(s ledger.Store) error {
			for _, name := range args {
				if err := s.Forget(cmd.Context(), name, time.Now()); err != nil {
					return noHost(err, name)
				}
			}
			return nil
		})
	})
	addLedgerFlag(cmd, &at)
	return cmd
}

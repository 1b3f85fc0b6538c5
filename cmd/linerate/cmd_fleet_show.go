package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/fleet"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/show"
)

// mostChanges bounds the changes that are printed for people; the JSON has all.
const mostChanges = 200

// fleetChangesDocument is what fleet changes prints with --json.
type fleetChangesDocument struct {
	Version int       `json:"version"`
	Since   time.Time `json:"since"`
	// Changes are newest first.
	Changes []fleet.Change `json:"changes"`
}

func newFleetChangesCmd() *cobra.Command {
	var o fleetForms
	var since time.Duration
	var fail, kind string
	var worse bool
	cmd := &cobra.Command{
		Use:   "changes",
		Short: "list what changed on the hosts of the fleet",
		Long: `Changes lists what sweeps recorded, newest first: new and resolved findings, hosts
that became unreachable, settings that drifted. The cause is the host, its baseline
(the first audit), or the catalogue (a newer version finds more). --fail-on and
alerts consider only changes caused by the host.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			floor, err := parseFailOn(fail)
			if err != nil {
				return err
			}
			f := fleet.ChangeFilter{Kind: fleet.Kind(kind), Since: time.Now().Add(-since)}
			if kind != "" && !slices.Contains(fleet.Kinds(), f.Kind) {
				return hint.Usage(hint.Unknown("kind of change", kind, kindNames()))
			}
			return o.read(cmd, func(s ledger.FleetStore) error {
				changes, err := s.Changes(cmd.Context(), f)
				if err != nil {
					return err
				}
				if worse {
					changes = slices.DeleteFunc(changes, func(c fleet.Change) bool { return !c.Alerts() })
				}
				if err := o.printChanges(cmd, f.Since, changes); err != nil {
					return err
				}
				return floor.exit(changes)
			})
		},
	}
	o.addFlags(cmd, true)
	cmd.Flags().DurationVar(&since, "since", 24*time.Hour, "changes of the last `TIME`, such as 24h")
	cmd.Flags().StringVar(&kind, "kind", "", "only changes of this `KIND`: "+strings.Join(kindNames(), ", "))
	cmd.Flags().BoolVar(&worse, "worse", false, "only alerts: changes for the worse by the hosts themselves")
	cmd.Flags().StringVar(&fail, "fail-on", "", failOnNewUsage)
	return cmd
}

func kindNames() []string {
	var out []string
	for _, k := range fleet.Kinds() {
		out = append(out, string(k))
	}
	return out
}

func (o *fleetForms) printChanges(cmd *cobra.Command, since time.Time, changes []fleet.Change) error {
	out := cmd.OutOrStdout()
	switch {
	case o.asJSON:
		return cli.PrintJSON(out, fleetChangesDocument{fleetVersion, since.UTC(), changes})
	case o.asSARIF:
		return cli.PrintJSON(out, sarifOf(newFindings(changes)))
	}
	page := show.NewPage(cli.StyleOf(out))
	if len(changes) == 0 {
		page.Line("No changes.")
	}
	changesTable(page, changes, mostChanges)
	return page.Flush(out)
}

// newFindings are the hosts of changes with the findings that came.
func newFindings(changes []fleet.Change) []fleet.Host {
	at := map[string]int{}
	var hosts []fleet.Host
	for _, c := range changes {
		if c.Kind != fleet.Came && c.Kind != fleet.Drift {
			continue
		}
		i, ok := at[c.Host]
		if !ok {
			i = len(hosts)
			at[c.Host] = i
			hosts = append(hosts, fleet.Host{ID: c.Host, Name: c.Name})
		}
		hosts[i].Findings = append(hosts[i].Findings, fleet.Finding{ID: c.Finding, Rule: c.Rule, Tunable: c.Tunable, Severity: c.Severity, Text: c.Text, Expected: c.Expected, Found: c.Found})
	}
	return hosts
}

// changesTable lists changes, at most so many.
func changesTable(page *show.Page, changes []fleet.Change, most int) {
	if len(changes) == 0 {
		return
	}
	table := show.Table{Header: []string{"TIME", "HOST", "WHAT", "SEVERITY", "CAUSE", ""}}
	for i, c := range changes {
		if i == most {
			break
		}
		text := c.Text
		if c.Rule != "" {
			text = c.Rule + ": " + text
		}
		table.Rows = append(table.Rows, []string{c.Time.Local().Format(time.DateTime), show.Clean(c.Name), string(c.Kind), cmp.Or(string(c.Severity), "–"), string(c.Cause), show.Clean(text)})
	}
	page.Line("")
	page.Table(table)
	if len(changes) > most {
		page.Line(fmt.Sprintf("… and %s more, in the JSON", show.Plural(len(changes)-most, "change")))
	}
}

// fleetHostDocument is what fleet host prints with --json.
type fleetHostDocument struct {
	Version int        `json:"version"`
	Host    fleet.Host `json:"host"`
	// Wave is how the host stands in the last wave that it was in.
	Wave *fleet.WaveEvent `json:"wave,omitempty"`
	// Changes are newest first.
	Changes []fleet.Change `json:"changes"`
}

func newFleetHostCmd() *cobra.Command {
	var o fleetForms
	cmd := &cobra.Command{
		Use:   "host NAME",
		Short: "show one host: its findings and changes",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.read(cmd, func(s ledger.FleetStore) error {
				doc, err := hostOf(cmd.Context(), s, args[0])
				if err != nil {
					return err
				}
				out := cmd.OutOrStdout()
				switch {
				case o.asJSON:
					return cli.PrintJSON(out, doc)
				case o.asSARIF:
					return cli.PrintJSON(out, sarifOf([]fleet.Host{doc.Host}))
				}
				page := show.NewPage(cli.StyleOf(out))
				printHost(page, &doc)
				return page.Flush(out)
			})
		},
	}
	o.addFlags(cmd, true)
	return cmd
}

func hostOf(ctx context.Context, s ledger.FleetStore, name string) (fleetHostDocument, error) {
	h, err := s.Host(ctx, name)
	if err != nil {
		return fleetHostDocument{}, noHost(err, name)
	}
	ids := []string{h.ID}
	for _, n := range append([]string{h.Name}, h.Aliases...) {
		if id := fleet.ByName + n; id != h.ID {
			ids = append(ids, id) // what happened before it told what machine it is
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

func printHost(page *show.Page, doc *fleetHostDocument) {
	h := &doc.Host
	page.Line(page.Bold(show.Clean(h.Name)))
	line := func(name, value string) {
		if value != "" {
			page.Line(fmt.Sprintf("  %-14s %s", name, show.Clean(value)))
		}
	}
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.Local().Format(time.DateTime)
	}
	line("host name", h.Hostname)
	line("also", strings.Join(h.Aliases, ", "))
	line("known by", h.ID)
	line("system", strings.TrimSpace(h.OS+" "+h.Release))
	line("role", h.Role)
	line("first seen", at(h.FirstSeen))
	line("last audited", cmp.Or(at(h.LastSuccess), "never"))
	line("applied", h.Applied())
	if w := doc.Wave; w != nil {
		line("last wave", fmt.Sprintf("%s: %s %s", w.Wave, w.State, at(w.Time)))
	}
	if !h.UnreachableSince.IsZero() {
		line("unreachable", "since "+at(h.UnreachableSince)+": "+h.Reason)
	}
	page.Line("")
	if len(h.Findings) == 0 && h.Reached() {
		page.Line("No findings.")
	}
	for _, f := range h.Findings {
		since := ""
		if f.Rule == fleet.DriftRule {
			since = ", since " + at(f.Since)
		}
		page.Paragraph(fmt.Sprintf("%-8s", strings.ToUpper(string(f.Severity))), "        ", show.Clean(f.Rule+": "+f.Text+since))
	}
	changesTable(page, doc.Changes, mostChanges)
}

// fleetRuleDocument is what fleet rule prints with --json.
type fleetRuleDocument struct {
	Version int    `json:"version"`
	Rule    string `json:"rule"`
	// On is on how many hosts it finds something, Of how many there are.
	On int `json:"on"`
	Of int `json:"of"`
	// Counts are by role and release, Hosts those it finds something on.
	Counts []fleet.RuleCount `json:"counts"`
	Hosts  []fleet.Host      `json:"hosts"`
}

func newFleetRuleCmd() *cobra.Command {
	var o fleetForms
	cmd := &cobra.Command{
		Use:   "rule ID",
		Short: "show the hosts on which a rule finds something, by role and release",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.read(cmd, func(s ledger.FleetStore) error {
				doc, err := ruleOf(cmd.Context(), s, args[0])
				if err != nil {
					return err
				}
				out := cmd.OutOrStdout()
				switch {
				case o.asJSON:
					return cli.PrintJSON(out, doc)
				case o.asSARIF:
					hosts, err := findingsOfRule(cmd.Context(), s, &doc)
					if err != nil {
						return err
					}
					return cli.PrintJSON(out, sarifOf(hosts))
				}
				page := show.NewPage(cli.StyleOf(out))
				printRule(page, &doc)
				return page.Flush(out)
			})
		},
	}
	o.addFlags(cmd, true)
	return cmd
}

func ruleOf(ctx context.Context, s ledger.FleetStore, rule string) (fleetRuleDocument, error) {
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
		var names []string
		for _, r := range total(all) {
			names = append(names, r.Rule)
		}
		return doc, hint.Unknown("rule, or it finds nothing on any host:", rule, names)
	}
	doc.Of = st.Hosts
	for _, c := range doc.Counts {
		doc.On += c.Hosts
	}
	doc.Hosts, err = s.Hosts(ctx, fleet.HostFilter{Rule: rule})
	return doc, err
}

// findingsOfRule are the hosts with the findings of the rule alone.
func findingsOfRule(ctx context.Context, s ledger.FleetStore, doc *fleetRuleDocument) ([]fleet.Host, error) {
	var out []fleet.Host
	for _, h := range doc.Hosts {
		whole, err := s.Host(ctx, h.Name)
		if errors.Is(err, ledger.ErrNotFound) {
			continue // a sweep that runs may have dropped it
		}
		if err != nil {
			return nil, err
		}
		whole.Findings = slices.DeleteFunc(whole.Findings, func(f fleet.Finding) bool { return f.Rule != doc.Rule })
		out = append(out, whole)
	}
	return out, nil
}

func printRule(page *show.Page, doc *fleetRuleDocument) {
	page.Line(fmt.Sprintf("%s on %s of %s hosts:", show.Clean(doc.Rule), show.Count(doc.On), show.Count(doc.Of)))
	table := show.Table{Header: []string{"ROLE", "SYSTEM", "SEVERITY", "HOSTS"}, Right: []bool{false, false, false, true}}
	for _, c := range doc.Counts {
		table.Rows = append(table.Rows, []string{cmp.Or(show.Clean(c.Role), "–"), show.Clean(c.OS + " " + c.Release), string(c.Severity), show.Count(c.Hosts)})
	}
	page.Table(table)
	page.Line("")
	var names []string
	for i, h := range doc.Hosts {
		if i == mostChanges {
			names = append(names, fmt.Sprintf("and %s more, in the JSON", show.Count(len(doc.Hosts)-i)))
			break
		}
		names = append(names, show.Clean(h.Name))
	}
	page.Paragraph("", "", strings.Join(names, ", "))
}

func newFleetForgetCmd() *cobra.Command {
	var o fleetForms
	cmd := &cobra.Command{
		Use:   "forget NAME …",
		Short: "remove retired hosts; their recorded changes stay",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.read(cmd, func(s ledger.FleetStore) error {
				for _, name := range args {
					if err := s.Forget(cmd.Context(), name, time.Now()); err != nil {
						return noHost(err, name)
					}
				}
				return nil
			})
		},
	}
	addLedgerFlag(cmd, &o.ledger)
	return cmd
}

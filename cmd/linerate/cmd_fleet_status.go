package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/audit"
	"linerate/internal/cli"
	"linerate/internal/fleet"
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

// standing is what makes fleet status end with an exit code of its own.
type standing struct {
	floor              audit.Severity
	unreachable, drift bool
}

func parseStanding(text string) (f standing, err error) {
	for word := range strings.SplitSeq(text, ",") {
		switch word {
		case "":
		case "unreachable":
			f.unreachable = true
		case "drift":
			f.drift = true
		default:
			if f.floor, err = parseSeverity("--fail-on", word); err != nil {
				return f, hint.Unknown("value of --fail-on", word, []string{"drift", "unreachable", "error", "warning", "info"})
			}
		}
	}
	return f, nil
}

func (f standing) exit(st *fleet.Status) error {
	of := map[audit.Severity]int{audit.Error: st.Errors, audit.Warning: st.Errors + st.Warnings, audit.Info: st.Errors + st.Warnings + st.Infos}
	if f.drift && st.Drifted > 0 || f.unreachable && st.Unreachable > 0 || of[f.floor] > 0 {
		return hint.Exit(cli.ExitFindings)
	}
	return nil
}

func newFleetStatusCmd() *cobra.Command {
	var o fleetForms
	var textfile, failOn string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "show the fleet's findings and drift by role and release",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			fail, err := parseStanding(failOn)
			if err != nil {
				return err
			}
			return o.read(cmd, func(s ledger.FleetStore) error {
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
				if textfile != "" {
					if err := writeTextfile(ctx, s, textfile); err != nil {
						return err
					}
				}
				switch {
				case o.asJSON:
					err = cli.PrintJSON(cmd.OutOrStdout(), doc)
				case o.asSARIF:
					err = cli.PrintJSON(cmd.OutOrStdout(), sarifOf([]fleet.Host{asFindings(&doc)}))
				default:
					err = printFleet(cmd, &doc)
				}
				return cmp.Or(err, fail.exit(&st))
			})
		},
	}
	o.addFlags(cmd, true)
	cmd.Flags().StringVar(&failOn, "fail-on", "", "exit with 3 while there is `WHAT`: drift, unreachable, error, warning or info (several by commas)")
	cmd.Flags().StringVar(&textfile, "prometheus", "", "write the fleet's metrics to `FILE`, for node_exporter's textfile collector")
	return cmd
}

// asFindings is a fleet for a SARIF log: a result a rule, with its hosts counted, since one a
// host and finding are more than anything takes.
func asFindings(doc *fleetStatusDocument) fleet.Host {
	all := fleet.Host{Name: "fleet"}
	for _, r := range total(doc.Rules) {
		all.Findings = append(all.Findings, fleet.Finding{ID: r.Rule, Rule: r.Rule, Severity: r.Severity,
			Text: fmt.Sprintf("on %s of %s", show.Count(r.Hosts), show.Plural(doc.Status.Hosts, "host"))})
	}
	return all
}

const mostListed = 20

func printFleet(cmd *cobra.Command, doc *fleetStatusDocument) error {
	out := cmd.OutOrStdout()
	page := show.NewPage(cli.StyleOf(out))
	st := &doc.Status
	if st.Hosts == 0 {
		return hint.With(errors.New("the ledger knows of no fleet"), "linerate fleet sweep --hosts FILE begins one")
	}
	page.Paragraph("", "", fmt.Sprintf("%s, %s unreachable (%s never reached). Findings: %s, %s, %s for information.", show.Plural(st.Hosts, "host"), show.Count(st.Unreachable), show.Count(st.Never),
		show.Plural(st.Errors, "error"), show.Plural(st.Warnings, "warning"), show.Count(st.Infos)))
	if line := appliedLine(st); line != "" {
		page.Paragraph("", "", line)
	}
	table := show.Table{Header: []string{"ROLE", "SYSTEM", "HOSTS", "UNREACHABLE", "DRIFTED", "ERRORS", "WARNINGS", "INFO"}, Right: show.NumbersAfter(2)}
	for _, g := range st.Groups {
		table.Rows = append(table.Rows, []string{cmp.Or(show.Clean(g.Role), "–"), cmp.Or(show.Clean(strings.TrimSpace(g.OS+" "+g.Release)), "–"), show.Count(g.Hosts), show.Count(g.Unreachable), show.Count(g.Drifted), show.Count(g.Errors), show.Count(g.Warnings), show.Count(g.Infos)})
	}
	page.Line("")
	page.Table(table)
	rules := total(doc.Rules)
	if len(rules) > 0 {
		page.Line("")
		for i, r := range rules {
			if i == mostListed {
				page.Line(fmt.Sprintf("… and %s more, in the JSON", show.Plural(len(rules)-i, "rule")))
				break
			}
			page.Line(fmt.Sprintf("%s on %s of %s hosts (%s)", show.Clean(r.Rule), show.Count(r.Hosts), show.Count(st.Hosts), r.Severity))
		}
	}
	listed(page, doc.Unreachable, func(h *fleet.Host) string {
		return "unreachable since " + h.UnreachableSince.Local().Format(time.DateTime) + ": " + show.Clean(h.Reason)
	})
	listed(page, doc.Drifted, func(h *fleet.Host) string {
		return fmt.Sprintf("drifted from what linerate applied (%s) in %s", h.Record, show.Plural(h.Drifts, "place"))
	})
	sweeps := show.Table{Header: []string{"SWEEP", "BEGAN", "TOOK", "REACHED", "UNREACHABLE", "CHANGES", "WORSE"}, Right: show.NumbersAfter(2)}
	for _, w := range st.Sweeps {
		took := "not ended"
		if !w.End.IsZero() {
			took = show.Clock(w.End.Sub(w.Start))
		}
		sweeps.Rows = append(sweeps.Rows, []string{w.ID, w.Start.Local().Format(time.DateTime), took, show.Count(w.Reached), show.Count(w.Unreachable), show.Count(w.Changes), show.Count(w.Alerts)})
	}
	page.Line("")
	page.Table(sweeps)
	return page.Flush(out)
}

// appliedLine says how the hosts are that linerate applied something to; "" where it did not.
func appliedLine(st *fleet.Status) string {
	var line string
	if st.Applied > 0 {
		line = fmt.Sprintf("linerate applied something on %s, %s drifted from it.", show.Plural(st.Applied, "host"), show.Count(st.Drifted))
	}
	if st.Unread > 0 {
		line += fmt.Sprintf(" On %s the last sweep could not tell (fleet host NAME says why; become=sudo in the list reads root's record).", show.Plural(st.Unread, "host"))
	}
	return strings.TrimSpace(line)
}

// listed lists hosts, with what is to be said of each.
func listed(page *show.Page, hosts []fleet.Host, say func(*fleet.Host) string) {
	if len(hosts) == 0 {
		return
	}
	page.Line("")
	for i, h := range hosts {
		if i == mostListed {
			page.Line(fmt.Sprintf("… and %s more, in the JSON", show.Plural(len(hosts)-i, "host")))
			break
		}
		page.Paragraph("", "  ", show.Clean(h.Name)+" "+say(&h))
	}
}

// total adds up roles and releases: a rule's hosts, those of most first, with the worst
// severity.
func total(counts []fleet.RuleCount) []fleet.RuleCount {
	at := map[string]int{}
	var out []fleet.RuleCount
	for _, c := range counts {
		i, ok := at[c.Rule]
		if !ok {
			at[c.Rule] = len(out)
			out = append(out, fleet.RuleCount{Rule: c.Rule, Severity: c.Severity, Hosts: c.Hosts})
			continue
		}
		out[i].Hosts += c.Hosts
		if c.Severity.AtLeast(out[i].Severity) {
			out[i].Severity = c.Severity
		}
	}
	slices.SortStableFunc(out, func(a, b fleet.RuleCount) int { return cmp.Compare(b.Hosts, a.Hosts) })
	return out
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"linerate/internal/ledger"
)

// printEvidence prints evidence as a table, hardware by hardware, nulls and
// losses included.
func printEvidence(w io.Writer, lines []ledger.Line) error {
	machine := ""
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := range lines {
		l := &lines[i]
		if m := machineOf(l); m != machine {
			if err := tw.Flush(); err != nil {
				return err
			}
			if machine != "" {
				fmt.Fprintln(w)
			}
			fmt.Fprintln(w, m)
			machine = m
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\t%s\tn %d\t%s\t%s\n", releaseOf(l), shorten(l.Study, 48), settingText(l), l.Workload, effectText(l), l.N, pText(l), verdictText(l))
		if l.Without != nil {
			fmt.Fprintf(tw, "  \t\t\twithout %d excluded\t%s\tn %d\t%s\t%s\n", l.Dropped, effectText(l.Without), l.Without.N, pText(l.Without), l.Without.Verdict)
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if ledger.Disagreement(lines) {
		fmt.Fprintln(w, "\nThe evidence conflicts: it depends on the machine, the release or what else was set.")
	}
	if hasReadmes(lines) {
		fmt.Fprintln(w, "\nIntervals are 95 %; verdicts are after Holm within each study.")
	}
	return nil
}

func hasReadmes(lines []ledger.Line) bool {
	for i := range lines {
		if lines[i].Published != nil {
			return true
		}
	}
	return false
}

func machineOf(l *ledger.Line) string {
	s := l.CPU
	if s == "" {
		s = l.Hardware
	}
	if l.Cores > 0 {
		s += fmt.Sprintf(", %d cores", l.Cores)
	}
	if l.NIC != "" {
		s += ", " + l.NIC
	}
	if l.Driver != "" && l.Driver != l.NIC {
		s += " (" + l.Driver + ")"
	}
	return s
}

func releaseOf(l *ledger.Line) string {
	return shorten(strings.TrimSpace(l.OS+" "+l.Release), 34)
}

func settingText(l *ledger.Line) string {
	s := shorten(l.Setting(), 44)
	if l.Tunable != "" && !l.Alone && len(l.Changes) > 1 {
		s += fmt.Sprintf(" (and %d more)", len(l.Changes)-1)
	}
	return s
}

func effectText(l *ledger.Line) string { return l.EffectText() }

func pText(l *ledger.Line) string {
	switch p, ok := l.PHolm.Get(); {
	case !ok:
		return "p –"
	case p < 0.0001:
		return "p <0.0001"
	default:
		return fmt.Sprintf("p %.4f", p)
	}
}

// verdictText is the verdict with what limits it and what its author said.
func verdictText(l *ledger.Line) string {
	s := string(l.Verdict)
	if l.Excluded != "" {
		s = "excluded: " + l.Excluded
	}
	if l.Published != nil && !l.Published.Agrees {
		s += fmt.Sprintf("; its README says %s", l.Published.Verdict)
		if l.Published.Percent != 0 {
			s += fmt.Sprintf(" (%+.1f ± %.1f %%)", l.Published.Percent, l.Published.PercentError)
		}
	}
	for _, f := range l.Flags {
		if strings.HasPrefix(f, "generator-bound") || f == "drift" || strings.HasPrefix(f, "distrust") {
			s += "; " + f
		}
	}
	return s
}

func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// showOverview says what is in the ledger.
func showOverview(ctx context.Context, w io.Writer, s ledger.Store, asJSON bool) error {
	head, ok, err := s.Head(ctx)
	if err != nil {
		return err
	}
	studies, err := s.Studies(ctx, ledger.Filter{})
	if err != nil {
		return err
	}
	names, err := s.Tunables(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(w, map[string]any{"version": 1, "ledger": s.Place(), "entries": head.Seq, "head": head.Hash, "studies": studies, "tunables": names})
	}
	fmt.Fprintf(w, "%s: %d entries, %d studies, evidence on %d tunables\n", s.Place(), head.Seq, len(studies), len(names))
	if !ok {
		fmt.Fprintln(w, "Fill it: linerate demo, or linerate import netbenches DIR")
		return nil
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, st := range studies {
		fmt.Fprintf(tw, "%s\t%s\t%s\n", st.ID[:12], st.Place, shorten(st.Question, 70))
	}
	return tw.Flush()
}

func printShown(w io.Writer, s *shown) error {
	var b bytes.Buffer
	if json.Indent(&b, s.Record, "", "  ") != nil {
		b.Write(s.Record)
	}
	fmt.Fprintf(w, "%s, entry %d\n%s\n", singular(s.Table), s.Entry, b.String())
	if len(s.Trials) == 0 {
		return nil
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := range s.Trials {
		t := &s.Trials[i]
		state := strings.Join(t.Flags, ", ")
		if !t.Valid {
			state = "invalid: " + strings.Join(t.Reasons, "; ")
		}
		from := ""
		if len(t.Sources) > 0 {
			from = fmt.Sprintf("%s lines %d–%d", t.Sources[0].Path, t.Sources[0].First, t.Sources[0].Last)
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\tblock %d\t%s\t%s\t%s\n", t.ID[:12], t.Variant, t.Workload, t.Block, metricsText(t), state, from)
	}
	return tw.Flush()
}

// singular is a table's name for one of its records.
func singular(table string) string {
	if table == "studies" {
		return "study"
	}
	return strings.TrimSuffix(table, "s")
}

// metricsText is a trial's first metric that a verdict may rest on.
func metricsText(t *ledger.Trial) string {
	for _, name := range []string{"overload_forwarding_rate_pps", "equilibrium_mbps", "cost_ns_per_packet", "forwarding_rate_pps"} {
		if v, ok := t.Metrics[name]; ok {
			return fmt.Sprintf("%s %.8g", name, v)
		}
	}
	return ""
}

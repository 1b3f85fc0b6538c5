package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"linerate/internal/cli"
	"linerate/internal/evidence"
	"linerate/internal/ledger"
	"linerate/internal/show"
)

// printEvidence prints evidence as tables.
func printEvidence(w io.Writer, lines []ledger.Line) error {
	page := show.NewPage(cli.StyleOf(w))
	evidence.Print(page, ledger.Rows(lines))
	return page.Flush(w)
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
		return cli.PrintJSON(w, map[string]any{"version": 1, "ledger": s.Place(), "entries": head.Seq, "head": head.Hash, "studies": studies, "tunables": names})
	}
	fmt.Fprintf(w, "%s: %s, %s, evidence on %s\n", s.Place(), counted(int(head.Seq), "entry", "entries"), counted(len(studies), "study", "studies"), show.Plural(len(names), "tunable"))
	if !ok {
		fmt.Fprintln(w, "Fill it: linerate demo, or linerate import netbenches DIR")
		return nil
	}
	var t show.Table
	for _, st := range studies {
		t.Add(st.ID.Short(), placeText(&st), st.Question)
	}
	return t.Write(w, cli.StyleOf(w))
}

// placeText is a study of linerate's by its name and start, another's by its place.
func placeText(s *ledger.Study) string {
	if s.Kind != ledger.KindStudy || s.Started == nil {
		return s.Place
	}
	return s.Name + " " + s.Started.UTC().Format("2006-01-02 15:04")
}

// counted is a number of things whose plural is irregular.
func counted(n int, one, more string) string {
	if n != 1 {
		one = more
	}
	return show.Count(n) + " " + one
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
	var table show.Table
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
		table.Add(t.ID.Short(), t.Variant, t.Workload, fmt.Sprintf("block %d", t.Block), metricsText(t), state, from)
	}
	return table.Write(w, cli.StyleOf(w))
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
			return name + " " + show.Value(v)
		}
	}
	return ""
}

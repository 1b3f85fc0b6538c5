package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/ledgers"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/show"
)

func newLedgerShowCmd() *cobra.Command {
	var at string
	var raw bool
	cmd := verb("ledger show", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
		return ledgers.Read(cmd.Context(), at, func(s ledger.Store) error {
			switch {
			case len(args) == 0:
				return showOverview(cmd, s)
			case raw:
				return showRaw(cmd.Context(), cmd.OutOrStdout(), s, args[0])
			}
			return showRecord(cmd.Context(), cmd.OutOrStdout(), s, args[0])
		})
	})
	addLedgerFlag(cmd, &at)
	cli.JSONFlag(cmd)
	cmd.Flags().BoolVar(&raw, "raw", false, "print the bytes kept under a SHA-256")
	return cmd
}

func showRaw(ctx context.Context, w io.Writer, s ledger.Store, sha string) error {
	b, err := s.Blob(ctx, strings.ToLower(sha))
	if err != nil {
		return hint.With(fmt.Errorf("%s: %w", sha, err), "its hash may be known without its bytes")
	}
	data, err := b.Bytes()
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// showRecord prints a record by its identifier, or a study by its name.
func showRecord(ctx context.Context, w io.Writer, s ledger.Store, id string) error {
	rows, err := s.Get(ctx, id)
	if errors.Is(err, ledger.ErrNotFound) {
		studies, serr := s.Studies(ctx, ledger.Filter{Study: id})
		if serr != nil {
			return serr
		}
		for _, st := range studies {
			more, gerr := s.Get(ctx, string(st.ID))
			if gerr != nil {
				return gerr
			}
			rows = append(rows, more...)
		}
		if len(rows) == 0 {
			return hint.With(fmt.Errorf("%s: %w", id, err), "linerate ledger show lists the studies")
		}
	} else if err != nil {
		return err
	}
	docs := make([]shown, len(rows))
	for i, r := range rows {
		docs[i] = shown{Table: r.Table, Entry: r.Entry, Digest: r.Digest, Record: r.Doc}
		if r.Table == "studies" {
			if docs[i].Trials, err = s.Trials(ctx, r.ID); err != nil {
				return err
			}
		}
	}
	return cli.PrintJSON(w, recordsDocument{1, docs})
}

// shown is a record with its place in the chain.
type shown struct {
	Table  string          `json:"table"`
	Entry  int64           `json:"entry"`
	Digest string          `json:"digest"`
	Record json.RawMessage `json:"record"`
	Trials []ledger.Trial  `json:"trials,omitempty"`
}

// recordsDocument is what ledger show prints of an id.
type recordsDocument struct {
	Version int     `json:"version"`
	Records []shown `json:"records"`
}

// overviewDocument is what ledger show --json prints without one: tunables with how
// many verdicts there are on each.
type overviewDocument struct {
	Version  int            `json:"version"`
	Ledger   string         `json:"ledger"`
	Entries  int64          `json:"entries"`
	Head     string         `json:"head"`
	Studies  []ledger.Study `json:"studies"`
	Tunables map[string]int `json:"tunables"`
}

// showOverview says what is in the ledger.
func showOverview(cmd *cobra.Command, s ledger.Store) error {
	ctx := cmd.Context()
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
	doc := overviewDocument{1, s.Place(), head.Seq, head.Hash, studies, names}
	return cli.Print(cmd, doc, func(w io.Writer) error { return doc.print(w, ok) })
}

// print prints it for people, some of it if the ledger is filled.
func (d *overviewDocument) print(w io.Writer, filled bool) error {
	fmt.Fprintf(w, "%s: %s, %s, evidence on %s\n", d.Ledger, counted(int(d.Entries), "entry", "entries"), counted(len(d.Studies), "study", "studies"), show.Plural(len(d.Tunables), "tunable"))
	if !filled {
		fmt.Fprintln(w, "Fill it: linerate demo, or linerate import DIR")
		return nil
	}
	var t show.Table
	for _, st := range d.Studies {
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

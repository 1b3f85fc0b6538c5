package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/ledger"
)

func newLedgerShowCmd() *cobra.Command {
	var at string
	var asJSON, raw bool
	cmd := &cobra.Command{
		Use:   "show [ID]",
		Short: "show a study, trial, verdict or file, down to its raw bytes",
		Example: `  linerate ledger show                    # what is in the ledger
  linerate ledger show STUDY
  linerate ledger show --raw SHA256       # the bytes a number came from`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return readLedger(cmd.Context(), at, func(s ledger.Store) error {
				switch {
				case len(args) == 0:
					return showOverview(cmd.Context(), cmd.OutOrStdout(), s, asJSON)
				case raw:
					return showRaw(cmd.Context(), cmd.OutOrStdout(), s, args[0])
				}
				return showRecord(cmd.Context(), cmd.OutOrStdout(), s, args[0], asJSON)
			})
		},
	}
	addLedgerFlag(cmd, &at)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	cmd.Flags().BoolVar(&raw, "raw", false, "print the bytes kept under a SHA-256")
	return cmd
}

func showRaw(ctx context.Context, w io.Writer, s ledger.Store, sha string) error {
	b, err := s.Blob(ctx, strings.ToLower(sha))
	if err != nil {
		return hint.With(fmt.Errorf("%s: %w", sha, err), "its hash may be known without its bytes: import with --keep-raw all")
	}
	data, err := b.Bytes()
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// showRecord prints a record by its identifier, or a study by its name.
func showRecord(ctx context.Context, w io.Writer, s ledger.Store, id string, asJSON bool) error {
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
	if asJSON {
		return cli.PrintJSON(w, map[string]any{"version": 1, "records": docs})
	}
	for i := range docs {
		if err := printShown(w, &docs[i]); err != nil {
			return err
		}
	}
	return nil
}

// shown is a record as ledger show prints it.
type shown struct {
	Table  string          `json:"table"`
	Entry  int64           `json:"entry"`
	Digest string          `json:"digest"`
	Record json.RawMessage `json:"record"`
	Trials []ledger.Trial  `json:"trials,omitempty"`
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"

	"github.com/spf13/cobra"

	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/ledger/postgres"
	"linerate/internal/ledger/sqlite"
)

const ledgerFlagUsage = "ledger: a file or postgres://… (default: LINERATE_LEDGER, else your state directory)"

// addLedgerFlag gives a command --ledger.
func addLedgerFlag(cmd *cobra.Command, at *string) {
	cmd.Flags().StringVar(at, "ledger", "", ledgerFlagUsage)
}

// openLedger opens the ledger that flag, environment or state directory name,
// making it where there is none.
func openLedger(ctx context.Context, flag string) (ledger.Store, error) {
	at, err := ledger.Locate(flag)
	if err != nil {
		return nil, err
	}
	if at.URL != "" {
		s, err := postgres.Open(ctx, at.URL)
		if err != nil && hint.Of(err) == "" {
			err = hint.With(err, "is PostgreSQL running there, and does it let you in? psql takes the same postgres://… address")
		}
		return s, err
	}
	return sqlite.Open(ctx, at.Path, sqlite.Owner{UID: at.UID, GID: at.GID})
}

// withLedger opens the ledger for f and closes it.
func withLedger(ctx context.Context, flag string, f func(ledger.Store) error) error {
	s, err := openLedger(ctx, flag)
	if err != nil {
		return err
	}
	err = errors.Join(f(s), s.Close())
	if errors.Is(err, ledger.ErrFull) {
		return hint.With(err, "what was acknowledged is kept; make room, or give another place with --ledger, and do it again")
	}
	return err
}

// readLedger is withLedger for those that only read: where there is no ledger
// yet none is made.
func readLedger(ctx context.Context, flag string, f func(ledger.Store) error) error {
	s, err := existingLedger(ctx, flag)
	if err != nil {
		return err
	}
	if s == nil {
		at, err := ledger.Locate(flag)
		if err != nil {
			return err
		}
		return hint.With(fmt.Errorf("no ledger at %s yet", at.Path), "fill one: linerate demo, or linerate import netbenches DIR")
	}
	return errors.Join(f(s), s.Close())
}

// existingLedger opens the ledger for reading; nil without error when there
// is none yet.
func existingLedger(ctx context.Context, flag string) (ledger.Store, error) {
	at, err := ledger.Locate(flag)
	if err != nil {
		return nil, err
	}
	if at.URL == "" {
		if _, err := os.Stat(at.Path); os.IsNotExist(err) {
			return nil, nil
		} else if err != nil {
			return nil, fmt.Errorf("ledger: %w", err)
		}
	}
	return openLedger(ctx, flag)
}

// operator is who excludes something.
func operator() string {
	if name := os.Getenv("SUDO_USER"); name != "" {
		return name
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "unknown"
}

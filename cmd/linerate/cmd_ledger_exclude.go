package main

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/ledgers"
	"linerate/internal/hint"
	"linerate/internal/ledger"
)

func newLedgerExcludeCmd() *cobra.Command {
	var at, reason string
	cmd := verb("ledger exclude", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		return ledgers.With(cmd.Context(), at, func(s ledger.Store) error {
			err := ledger.Exclude(cmd.Context(), s, args[0], reason, operator(), time.Now())
			if errors.Is(err, ledger.ErrNotFound) {
				return hint.With(fmt.Errorf("%s: %w", args[0], err), "linerate ledger show STUDY lists the trials of a study")
			}
			return err
		})
	})
	addLedgerFlag(cmd, &at)
	cmd.Flags().StringVar(&reason, "reason", "", "why it is excluded")
	return cmd
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

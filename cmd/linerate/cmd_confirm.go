package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"linerate/internal/apply"
	"linerate/internal/hint"
)

// newConfirmCmd returns the command that makes an applied change permanent.
func newConfirmCmd() *cobra.Command {
	var digest string
	cmd := onTarget("confirm", &target{}, func(cmd *cobra.Command, m apply.Machine, st apply.Status) error {
		switch {
		case st.UID != 0:
			return notRoot(m)
		case st.Live != nil:
			return st.Taken()
		case st.State == "idle":
			return nothingPending(m, st)
		}
		said, err := m.Confirm(cmd.Context(), fullDigest(digest, st))
		if err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), said)
		return nil
	})
	cmd.Flags().StringVar(&digest, "plan", "", "only if the plan with this `DIGEST` is pending")
	return cmd
}

// fullDigest expands an abbreviated digest that matches the pending change.
func fullDigest(digest string, st apply.Status) string {
	const prefix = "sha256:"
	if digest != "" && len(digest) >= 12 && len(st.Digest) > len(prefix) && st.Digest[len(prefix):][:12] == digest[:12] {
		return st.Digest
	}
	return digest
}

func nothingPending(m apply.Machine, st apply.Status) error {
	err := fmt.Errorf("nothing is pending on %s", m.Where())
	if n := len(st.History); n > 0 {
		last := st.History[n-1]
		text := fmt.Sprintf("the last was %s: %s", last.ID, last.Outcome)
		if last.Why != "" {
			text += ", " + last.Why
		}
		return hint.With(err, "%s", text)
	}
	return hint.With(err, "linerate apply PLAN changes a host")
}

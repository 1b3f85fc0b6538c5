package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/apply"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/show"
)

// statusDocument is the output of status --json; see docs/reference/apply.md.
type statusDocument struct {
	Version int    `json:"version"`
	Where   string `json:"where"`
	apply.Status
}

// newStatusCmd returns the command that shows a pending change, and the state of confirmed ones.
func newStatusCmd() *cobra.Command {
	var failOn string
	cmd := onTarget("status", &target{}, func(cmd *cobra.Command, m apply.Machine, st apply.Status) error {
		err := cli.Print(cmd, statusDocument{1, m.Where(), st}, func(w io.Writer) error { writeStatus(w, st); return nil })
		if err == nil && failOn == "drift" && len(st.Drift) > 0 {
			return hint.Exit(cli.ExitFindings)
		}
		return err
	})
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if failOn != "" && failOn != "drift" {
			return hint.With(hint.Usagef("--fail-on %s: want drift", failOn), "--fail-on drift ends with status 3 where something is not as it was confirmed")
		}
		return nil
	}
	cmd.Flags().StringVar(&failOn, "fail-on", "", "exit with 3 on `drift`")
	cli.JSONFlag(cmd)
	return cmd
}

func writeStatus(w io.Writer, st apply.Status) {
	if l := st.Live; l != nil {
		fmt.Fprintf(w, "a live study has this host (%s): %s\n", show.Clean(l.Owner), show.Clean(l.About))
		fmt.Fprintln(w, "linerate study stop ends it and puts the host back")
	}
	if l := st.Lost; l != nil {
		fmt.Fprintf(w, "a live study had this host (%s) and has not been heard of for %s: linerate or its machine died, sleeps, or cannot reach this host: %s\n", show.Clean(l.Owner), show.Long(time.Duration(-l.Left)*time.Second), show.Clean(l.About))
		fmt.Fprintln(w, "linerate study resume continues it, from its directory")
	}
	switch {
	case st.Live != nil && st.State != "idle" && (st.ID == "" || st.Busy):
		fmt.Fprintln(w, "a window of it begins or ends right now")
	case st.Live != nil && st.State == "pending" && st.Digest == apply.AsIs:
		fmt.Fprintf(w, "a window of it in which nothing is set: its switch, armed in every window, ends in %s at the latest\n", time.Duration(max(0, st.Left))*time.Second)
	case st.Live != nil && st.State == "pending":
		fmt.Fprintf(w, "%s is set in a window of it: the host reverts it in %s at the latest\n", show.Clean(st.ID), time.Duration(max(0, st.Left))*time.Second)
	case st.State == "idle":
		fmt.Fprintln(w, "nothing is pending")
	case st.State == "confirming":
		fmt.Fprintf(w, "%s is confirmed; its files are being written\n", show.Clean(st.ID))
	case st.State == "reverting":
		fmt.Fprintf(w, "%s is being reverted\n", show.Clean(st.ID))
	case st.Busy:
		fmt.Fprintf(w, "%s is being applied or reverted right now\n", show.Clean(st.ID))
	case !st.Armed:
		fmt.Fprintf(w, "%s is pending without its switch: linerate rollback reverts it\n", show.Clean(st.ID))
	case !st.Ready:
		fmt.Fprintf(w, "%s is being applied; reverted in %s at the latest\n", show.Clean(st.ID), time.Duration(st.Left)*time.Second)
	case st.Left <= 0:
		fmt.Fprintf(w, "%s was not confirmed in time and is about to be reverted\n", show.Clean(st.ID))
	default:
		fmt.Fprintf(w, "%s is pending: reverted in %s unless confirmed\n", show.Clean(st.ID), time.Duration(st.Left)*time.Second)
	}
	if st.NoCron && st.State == "pending" {
		fmt.Fprintln(w, "this host has no /etc/cron.d: if the switch and its guard are both killed, only a boot or linerate's next command reverts it")
	}
	for _, p := range st.History {
		if st.Live != nil && p.OfLiveStudy() && p.Outcome == string(apply.Reverted) {
			continue // a window of the running study; its entry is removed at the end
		}
		line := fmt.Sprintf("  %s %s", p.ID, p.Outcome)
		if p.When != "" {
			line += " " + p.When
		}
		if p.OfLiveStudy() {
			line += ", a window of a live study"
		}
		if p.Why != "" {
			line += ": " + p.Why
		}
		fmt.Fprintln(w, show.Clean(line))
	}
	for _, path := range st.NextBoot {
		fmt.Fprintf(w, "next boot: what %s says now does not run yet; what ran before it does\n", show.Clean(path))
	}
	for _, d := range st.Drift {
		if d.Now == "another text" {
			writeFileDrift(w, d)
			continue
		}
		fmt.Fprintf(w, "drift: %s is %q, confirmed %q\n", show.Clean(d.What), show.Clean(d.Now), show.Clean(d.Confirmed))
	}
	if _, ok := st.Current(); ok && len(st.Drift) == 0 {
		fmt.Fprintln(w, "no drift from what was confirmed")
	}
}

// writeFileDrift prints how a file differs from its confirmed state.
func writeFileDrift(w io.Writer, d apply.Drift) {
	line := fmt.Sprintf("drift: %s is not as it was confirmed", d.What)
	if d.Changed != "" {
		line += ": written " + d.Changed
	} else {
		line += ": it is gone"
	}
	fmt.Fprintln(w, show.Clean(line))
	for _, l := range d.Lines {
		fmt.Fprintln(w, show.Clean("  "+l))
	}
}

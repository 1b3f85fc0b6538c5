//go:build linux || freebsd

package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/testbed"
)

func newLabCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "lab", Short: labShort, Long: labLong}
	cmd.AddCommand(newLabUpCmd(), newLabDownCmd(listLabs, downLab, sweepLabs), newLabStatusCmd(), newLabCheckCmd())
	return cmd
}

// labReport is what lab up --json prints.
type labReport struct {
	Version    int                 `json:"version"`
	Name       string              `json:"name"`
	Namespaces []string            `json:"namespaces,omitempty"` // on Linux
	Jails      []string            `json:"jails,omitempty"`      // on FreeBSD
	Testbed    testbed.Description `json:"testbed"`
}

func newLabUpCmd() *cobra.Command {
	var name string
	var asJSON bool
	mode := string(testbed.Overload)
	cmd := &cobra.Command{
		Use:   "up",
		Short: "build a lab that stays until lab down",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(labModes(), testbed.Mode(mode)) {
				return hint.Unknown("mode", mode, list.Map(labModes(), func(m testbed.Mode) string { return string(m) }))
			}
			l, d, err := upLab(cmd.Context(), name, testbed.Mode(mode))
			if err != nil {
				return err
			}
			doc := labReport{Version: 1, Name: l.Name, Testbed: d}
			doc.Namespaces, doc.Jails = labRooms(l)
			return cli.Print(cmd, asJSON, doc, func(w io.Writer) error { printLab(w, l, d); return nil })
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the lab (default: the first free labN)")
	if len(labModes()) > 1 {
		cmd.Flags().StringVar(&mode, "mode", mode, "overload: the DUT runs on a dedicated CPU; cost: one CPU runs everything")
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// newLabDownCmd removes labs by down; sweep puts back what killed ones left.
func newLabDownCmd(labs func() ([]namedLab, error), down func(string) error, sweep func() error) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "down [NAME…]",
		Short: "remove labs",
		Long: `Remove labs by name. --all removes every lab, and restores host settings that
killed studies left changed (--allow-host-settings), as the next study would.`,
		Args: func(_ *cobra.Command, args []string) error {
			if all != (len(args) == 0) {
				return hint.With(errors.New("name the labs to remove, or give --all"), "linerate lab status lists them")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, names []string) error {
			if all {
				up, err := labs()
				if err != nil {
					return err
				}
				for _, l := range up {
					names = append(names, l.Name)
				}
				if err := sweep(); err != nil {
					return err
				}
			}
			for _, n := range names {
				if err := down(n); err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "lab %s is gone\n", n)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "remove every lab of this machine, and leftovers of killed ones")
	return cmd
}

// labLine is one lab in the JSON of lab status.
type labLine struct {
	namedLab
	Namespaces []string          `json:"namespaces,omitempty"`
	Counters   *testbed.Counters `json:"dut_counters"`
	Problem    string            `json:"problem,omitempty"`
}

// labsDocument is what lab status --json prints.
type labsDocument struct {
	Version int       `json:"version"`
	Labs    []labLine `json:"labs"`
}

func newLabStatusCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "list the labs that are up and what their DUTs forwarded",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			up, err := listLabs()
			if err != nil {
				return err
			}
			doc := labsDocument{1, []labLine{}}
			for _, l := range up {
				line := labLine{namedLab: l}
				line.Namespaces, _ = labRooms(l)
				if c, err := l.Counters(); err != nil {
					line.Problem = err.Error()
				} else {
					line.Counters = &c
				}
				doc.Labs = append(doc.Labs, line)
			}
			return cli.Print(cmd, asJSON, doc, func(w io.Writer) error { printLabs(w, doc.Labs); return nil })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

func printLabs(w io.Writer, labs []labLine) {
	if len(labs) == 0 {
		fmt.Fprintln(w, "no lab is up")
		return
	}
	fmt.Fprintf(w, "%-16s %-9s %-11s %12s %12s %12s\n", "lab", "mode", "state", "received", "forwarded", "dropped")
	for _, l := range labs {
		mode, state := labState(l.namedLab)
		if l.Counters == nil {
			fmt.Fprintf(w, "%-16s %-9s broken: %s\n", l.Name, mode, l.Problem)
			continue
		}
		fmt.Fprintf(w, "%-16s %-9s %-11s %12d %12d %12d\n", l.Name, mode, state, l.Counters.Received, l.Counters.Forwarded, l.Counters.Dropped)
	}
}

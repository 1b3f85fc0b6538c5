//go:build linux || freebsd

package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/testbed"
)

// labState is one lab in the JSON of lab status.
type labState struct {
	namedLab
	Namespaces []string          `json:"namespaces,omitempty"`
	Counters   *testbed.Counters `json:"dut_counters"`
	Problem    string            `json:"problem,omitempty"`
}

// read adds what the lab's DUT counted, or why that is not known.
func (s labState) read() labState {
	c, err := s.namedLab.Counters()
	if err != nil {
		s.Problem = err.Error()
		return s
	}
	s.Counters = &c
	return s
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

func newLabStatusCmd(labs func() ([]namedLab, error), state func(namedLab) labState, table func(io.Writer, []labState)) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "list the labs that are up and what their DUTs forwarded",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			up, err := labs()
			if err != nil {
				return err
			}
			states := []labState{}
			for _, l := range up {
				states = append(states, state(l).read())
			}
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), labsDocument{1, states})
			}
			if len(states) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "no lab is up")
				return nil
			}
			table(cmd.OutOrStdout(), states)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// labsDocument is what lab status --json prints.
type labsDocument struct {
	Version int        `json:"version"`
	Labs    []labState `json:"labs"`
}

// labReport is what lab up --json prints.
type labReport struct {
	Version    int                 `json:"version"`
	Name       string              `json:"name"`
	Namespaces []string            `json:"namespaces,omitempty"` // on Linux
	Jails      []string            `json:"jails,omitempty"`      // on FreeBSD
	Testbed    testbed.Description `json:"testbed"`
}

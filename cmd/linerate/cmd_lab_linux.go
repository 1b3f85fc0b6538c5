package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/study/forward"
	"linerate/internal/testbed"
	"linerate/internal/testbed/netnsbed"
)

func newLabCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "build and remove the namespace testbed by hand",
		Long: `A lab is three network namespaces on this machine, NAME-gen, NAME-dut and
NAME-sink, joined by veth pairs: gen0 → dut0, dut1 → sink0, and gen1 → sink1
without a DUT between. Studies build and remove their own labs; this one is for experiments by hand.`,
	}
	cmd.AddCommand(newLabUpCmd(), newLabDownCmd(netnsbed.Labs, netnsbed.Down, netnsbed.Sweep),
		newLabStatusCmd(netnsbed.Labs, func(l namedLab) labState { return labState{namedLab: l, Namespaces: l.Namespaces()} }, printLabStates), newLabCheckCmd())
	return cmd
}

// namedLab is one that outlives the command that made it.
type namedLab = netnsbed.Lab

func newLabUpCmd() *cobra.Command {
	var name, mode string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "up",
		Short: "build a lab that stays until lab down",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m := testbed.Mode(mode)
			if modes := (forward.Kind{}).Modes(); !slices.Contains(modes, m) {
				return hint.Unknown("mode", mode, []string{string(modes[0]), string(modes[1])})
			}
			if netnsbed.NeedsUserNamespace() {
				return hint.With(errors.New("a lab that outlives its command needs root"),
					"sudo linerate lab up; without root, linerate demo makes a lab of its own")
			}
			l, d, err := netnsbed.UpNamed(name, m)
			if err != nil {
				return err
			}
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), labReport{Version: 1, Name: l.Name, Namespaces: l.Namespaces(), Testbed: d})
			}
			printLab(cmd.OutOrStdout(), l, d)
			return nil
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the lab (default: the first free labN)")
	cmd.Flags().StringVar(&mode, "mode", string(testbed.Overload), "overload: the DUT has a thread and CPU of its own; cost: one CPU runs everything")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

func printLab(w io.Writer, l netnsbed.Lab, d testbed.Description) {
	ns := l.Namespaces()
	fmt.Fprintf(w, "lab %s is up (%s)\n\n", l.Name, d.Label)
	fmt.Fprintf(w, "  %-12s gen0  198.18.0.1/16       2001:2::1/64      → %s\n", ns[0], ns[1])
	fmt.Fprintf(w, "  %-12s dut0  198.18.255.254/16   2001:2::ffff:fffe/64\n", ns[1])
	fmt.Fprintf(w, "  %-12s dut1  198.19.255.254/16   2001:2:0:1::ffff:fffe/64\n", "")
	fmt.Fprintf(w, "  %-12s sink0 198.19.0.1/16       2001:2:0:1::1/64\n\n", ns[2])
	for _, n := range d.Notes {
		fmt.Fprintf(w, "  %s\n", n)
	}
	for _, m := range d.Missing {
		fmt.Fprintf(w, "  this kernel lacks: %s\n", m)
	}
	fmt.Fprintf(w, "\nTry:\n  ip netns exec %s linerate receive --dev sink0 --seconds 7 &\n", ns[2])
	fmt.Fprintf(w, "  ip netns exec %s linerate generate --dev gen0 --dst-mac 02:00:00:00:00:02 --src 198.18.0.1 --dst 198.19.0.1 --flows 2000 --size 64 --rate max --seconds 5 --cpu %d\n", ns[0], d.CPUs.Generator)
	fmt.Fprintf(w, "  linerate lab down %s\n", l.Name)
}

func printLabStates(w io.Writer, states []labState) {
	fmt.Fprintf(w, "%-16s %-9s %-11s %12s %12s %12s\n", "lab", "mode", "state", "received", "forwarded", "dropped")
	for _, s := range states {
		state := "up"
		if !s.Persistent {
			state = "being built"
		}
		if s.Counters == nil {
			fmt.Fprintf(w, "%-16s %-9s broken: %s\n", s.Name, s.Mode, s.Problem)
			continue
		}
		fmt.Fprintf(w, "%-16s %-9s %-11s %12d %12d %12d\n", s.Name, s.Mode, state, s.Counters.Received, s.Counters.Forwarded, s.Counters.Dropped)
	}
}

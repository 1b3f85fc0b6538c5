package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/testbed"
	"linerate/internal/testbed/jailbed"
)

func newLabCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "build and remove the testbed of jails by hand",
		Long: `A lab is three vnet jails on this machine, linerate-NAME (the generator), and
within it the DUT and the receiver, joined by epair(4): gen0 → dut0,
dut1 → sink0, and gen1 → sink1 without a DUT between. Studies build and remove their own labs; this one is for experiments by hand.`,
	}
	cmd.AddCommand(newLabUpCmd(), newLabDownCmd(jailbed.Labs, jailbed.Down, jailbed.Sweep),
		newLabStatusCmd(jailbed.Labs, func(l namedLab) labState { return labState{namedLab: l} }, printLabStates), newLabCheckCmd())
	return cmd
}

// namedLab is one that outlives the command that made it.
type namedLab = jailbed.Lab

func newLabUpCmd() *cobra.Command {
	var name string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "up",
		Short: "build a lab that stays until lab down",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, d, err := jailbed.UpNamed(cmd.Context(), name, testbed.Overload)
			if err != nil {
				return err
			}
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), labReport{Version: 1, Name: l.Name, Jails: l.Jails(), Testbed: d})
			}
			printLab(cmd.OutOrStdout(), l, d)
			return nil
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the lab (default: the first free labN)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

func printLab(w io.Writer, l jailbed.Lab, d testbed.Description) {
	j := l.Jails()
	fmt.Fprintf(w, "lab %s is up (%s)\n\n", l.Name, d.Label)
	fmt.Fprintf(w, "  %-22s gen0  198.18.0.1/16       2001:2::1/64\n", j[0])
	fmt.Fprintf(w, "  %-22s dut0  198.18.255.254/16   2001:2::ffff:fffe/64\n", j[1])
	fmt.Fprintf(w, "  %-22s dut1  198.19.255.254/16   2001:2:0:1::ffff:fffe/64\n", "")
	fmt.Fprintf(w, "  %-22s sink0 198.19.0.1/16       2001:2:0:1::1/64\n\n", j[2])
	for _, m := range d.Missing {
		fmt.Fprintf(w, "  this kernel lacks: %s\n", m)
	}
	fmt.Fprintf(w, "\nTry:\n  jexec %s linerate receive --dev sink0 --seconds 7 &\n", j[2])
	fmt.Fprintf(w, "  jexec %s linerate generate --dev gen0 --dst-mac 02:00:00:00:00:02 --src 198.18.0.1 --dst 198.19.0.1 --flows 2000 --size 64 --rate max --seconds 5\n", j[0])
	fmt.Fprintf(w, "  linerate lab down %s\n", l.Name)
}

func printLabStates(w io.Writer, states []labState) {
	fmt.Fprintf(w, "%-16s %12s %12s %12s\n", "lab", "received", "forwarded", "dropped")
	for _, s := range states {
		if s.Counters == nil {
			fmt.Fprintf(w, "%-16s broken: %s\n", s.Name, s.Problem)
			continue
		}
		fmt.Fprintf(w, "%-16s %12d %12d %12d\n", s.Name, s.Counters.Received, s.Counters.Forwarded, s.Counters.Dropped)
	}
}

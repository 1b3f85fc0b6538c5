package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/study"
	"linerate/internal/testbed"
	"linerate/internal/testbed/sshbed"
)

func newLabCheckCmd() *cobra.Command {
	var config string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check TESTBED.yaml",
		Short: "prove a testbed of real machines, step by step",
		Long: `Prove a testbed of real machines step by step: SSH and rights, nobody else on
it, links, every wire (frames sent at one end arrive at the other; wrong cabling
is named), forwarding, and what the generator can do. Each step says what it
proves. Nothing of the DUT is changed.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, _, err := readBedFile(args[0])
			if err != nil {
				return err
			}
			m := &machines{file: file, config: config, talk: cmd.ErrOrStderr()}
			steps, err := m.check(cmd, asJSON)
			if asJSON {
				err = errors.Join(printJSON(cmd.OutOrStdout(), struct {
					Version int           `json:"version"`
					Testbed string        `json:"testbed"`
					Ready   bool          `json:"ready"`
					Steps   []sshbed.Step `json:"steps"`
				}{1, args[0], err == nil, steps}), err)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&config, "ssh-config", "", "read this `FILE` instead of ~/.ssh/config")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// check proves a testbed and prints each step as it ends.
func (m *machines) check(cmd *cobra.Command, quiet bool) ([]sshbed.Step, error) {
	engine, err := m.engine()
	if err != nil {
		return nil, err
	}
	defer func() { _ = engine.close() }()
	steps := []sshbed.Step{}
	tell := func(s sshbed.Step) {
		steps = append(steps, s)
		if quiet {
			return
		}
		mark := map[bool]string{true: "ok    ", false: "FAILED"}[s.OK]
		fmt.Fprintf(cmd.OutOrStdout(), "%s  %s: %s\n        %s\n", mark, s.Name, s.Found, s.Proves)
		if s.Hint != "" {
			fmt.Fprintf(cmd.OutOrStdout(), "        hint: %s\n", s.Hint)
		}
	}
	o, err := m.options(sshbed.Options{Owner: ownerOf("lab check " + fmt.Sprint(os.Getpid())), Window: windowOf(study.Spec{}, m.file)})
	if err != nil {
		return nil, err
	}
	err = sshbed.Check(cmd.Context(), o, sshbed.Traffic{Ready: engine.ready, Shout: engine.shout, Through: through(engine), Headroom: study.DefaultGates.Headroom}, tell)
	if errors.Is(err, sshbed.ErrCheck) {
		err = hint.With(err, "mend what FAILED, then check again: each step stands on those before")
	}
	return steps, err
}

// through offers the simplest traffic: 64-byte frames of one flow.
func through(engine load.Engine) func(ctx context.Context, from, to testbed.Port, pps uint64, seconds float64) (load.Sent, load.Received, error) {
	return func(ctx context.Context, from, to testbed.Port, pps uint64, seconds float64) (sent load.Sent, got load.Received, err error) {
		src, dst := from.IPv4.Addr(), to.IPv4.Addr()
		if !src.IsValid() || !dst.IsValid() { // a wire without addresses: any will do
			src, dst = anyFrom, anyTo
		}
		rx, err := engine.NewReceiver(to.Device, to.In, load.Watch{Stream: 7, Side: to.Side})
		if err != nil {
			return sent, got, err
		}
		defer rx.Close()
		spec := load.Spec{Device: from.Device, Side: from.Side, SrcMAC: from.MAC, DstMAC: from.Peer, Stream: 7, Sizes: []int{64},
			Flows: load.FlowSpace{Count: 1, Src: src, Dst: dst, SrcPort: 1024, DstPort: 9}}
		gen, err := engine.NewGenerator(spec, from.In)
		if err != nil {
			return sent, got, err
		}
		defer gen.Close()
		if pps > 0 { // neighbours are asked for before anything counts
			_, _ = gen.Run(ctx, load.Offer{Rate: load.Rate{PPS: 100}, Limit: load.Limit{Packets: 20, Duration: time.Second}}, nil)
			_, _ = rx.Finish(ctx, time.Second)
			_ = rx.Reset()
		}
		if sent, err = gen.Run(ctx, load.Offer{Rate: load.Rate{PPS: pps}, Limit: load.Limit{Duration: time.Duration(seconds * float64(time.Second))}}, nil); err != nil {
			return sent, got, err
		}
		got, err = rx.Finish(ctx, 3*time.Second)
		return sent, got, err
	}
}

// broadcast is everybody's address (IEEE 802); anyFrom and anyTo are of the
// benchmarking range (RFC 2544 §C.2.2), for frames that no host is to read.
var (
	broadcast = net.HardwareAddr{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	anyFrom   = netip.MustParseAddr("198.18.255.1")
	anyTo     = netip.MustParseAddr("198.19.255.1")
)

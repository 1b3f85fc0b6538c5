package main

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/testbeds"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/port"
	"linerate/internal/show"
)

// sendFlags are the flags of load send, unparsed.
type sendFlags struct {
	device, engine, src, dst, dstMAC, rate string
	flows, size                            int
	count                                  uint64
	long                                   time.Duration
}

func newSendCmd() *cobra.Command {
	var f sendFlags
	cmd := verb("load send", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error { return runSend(cmd, f) })
	fs := cmd.Flags()
	fs.StringVar(&f.device, "dev", "", "network interface to send through")
	fs.StringVar(&f.engine, "engine", testbeds.AutoEngine, testbeds.SendingEngines)
	fs.StringVar(&f.dstMAC, "dst-mac", "", "MAC address of the next hop")
	fs.StringVar(&f.src, "src", "", "source address")
	fs.StringVar(&f.dst, "dst", "", "destination address")
	fs.IntVar(&f.flows, "flows", 1, "distinct UDP flows, by their source ports")
	fs.IntVar(&f.size, "size", load.MinSize, "frame size with FCS")
	fs.StringVar(&f.rate, "rate", "max", "max, frames per second (1.5Mpps, 100k) or bits per second (3Gbps)")
	fs.DurationVar(&f.long, "time", 0, "stop after this long")
	fs.Uint64Var(&f.count, "count", 0, "stop after so many frames")
	cli.JSONFlag(cmd)
	return cmd
}

func runSend(cmd *cobra.Command, f sendFlags) error {
	spec, offer, err := f.traffic()
	if err != nil {
		return err
	}
	engine, err := testbeds.EngineNamed(f.engine, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	g, err := engine.NewGenerator(spec, port.Here)
	if err != nil {
		return err
	}
	defer g.Close()
	sent, err := g.Run(cmd.Context(), offer)
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return errors.Join(cli.Print(cmd, sentDoc{1, sent}, sent.Print), err)
}

// traffic turns the flags into the frames to send, the rate and the duration.
func (f sendFlags) traffic() (s load.Spec, o load.Offer, err error) {
	s = load.Spec{Device: f.device, Stream: 1, Sizes: []int{f.size}, Flows: load.FlowSpace{Count: f.flows}}
	o.Limit = load.Limit{Packets: f.count, Duration: f.long}
	var errs [3]error
	s.DstMAC, errs[0] = net.ParseMAC(f.dstMAC)
	s.Flows.Src, errs[1] = netip.ParseAddr(f.src)
	s.Flows.Dst, errs[2] = netip.ParseAddr(f.dst)
	switch {
	case f.device == "" || errors.Join(errs[:]...) != nil:
		return s, o, hint.With(hint.Usagef("load send needs an interface, the next hop's MAC address, and a source and a destination address"), "for instance --dev gen0 --dst-mac 02:00:00:00:00:02 --src 198.18.0.1 --dst 198.19.0.1 (RFC 2544's ranges)")
	case f.flows < 1:
		return s, o, hint.Usagef("--flows %d: from 1 to %d", f.flows, load.MaxFlows)
	case f.long < 0:
		return s, o, hint.Usagef("--time %s: from 0, no limit", f.long)
	}
	o.Rate, err = load.ParseRate(f.rate)
	return s, o, err
}

// sentDoc is the output of load send --json.
type sentDoc struct {
	Version int `json:"version"`
	load.Sent
}

type receiveFlags struct {
	device, engine string
	long           time.Duration
	once           bool
}

func newReceiveCmd() *cobra.Command {
	var f receiveFlags
	cmd := verb("load receive", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error { return runReceive(cmd, f) })
	fs := cmd.Flags()
	fs.StringVar(&f.device, "dev", "", "network interface to receive from")
	fs.StringVar(&f.engine, "engine", testbeds.AutoEngine, testbeds.ReceivingEngines)
	fs.DurationVar(&f.long, "time", 0, "stop after this long (default: at Ctrl-C)")
	fs.BoolVar(&f.once, "once", false, "stop when the first stream has ended")
	cli.JSONFlag(cmd)
	return cmd
}

func runReceive(cmd *cobra.Command, f receiveFlags) error {
	switch {
	case f.device == "":
		return hint.With(hint.Usagef("load receive needs an interface"), "for instance --dev sink0")
	case f.long < 0:
		return hint.Usagef("--time %s: from 0, no limit", f.long)
	}
	engine, err := testbeds.EngineNamed(f.engine, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	r, err := engine.NewReceiver(f.device, port.Here, load.Watch{Stream: -1})
	if err != nil {
		return err
	}
	defer r.Close()
	got, err := watch(cmd.Context(), r, f, cli.NewLive(cmd.ErrOrStderr()))
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return errors.Join(cli.Print(cmd, receivedDoc{1, got}, got.Print), err)
}

// watch shows counters until the end. Without a time limit Ctrl-C is the normal end, not an
// interruption.
func watch(ctx context.Context, r load.Receiver, f receiveFlags, live *show.Live) (load.Received, error) {
	begin := time.Now()
	end := f.long
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	defer live.End()
	var last load.Received
	for {
		wait := time.Hour
		if end > 0 {
			wait = max(0, end-time.Since(begin))
		}
		select {
		case <-ctx.Done():
			got, err := r.Snapshot()
			if end > 0 {
				err = errors.Join(err, ctx.Err())
			}
			return got, err
		case <-time.After(wait):
			return r.Snapshot()
		case <-tick.C:
		}
		if !live.On() && !f.once {
			continue
		}
		got, err := r.Snapshot()
		if err != nil || f.once && got.Lost != nil && got.RxPackets == last.RxPackets {
			return got, err
		}
		last = got
		showReceived(live, got, time.Since(begin))
	}
}

// receivedDoc is the output of load receive --json.
type receivedDoc struct {
	Version int `json:"version"`
	load.Received
}

// showReceived updates the counters on a terminal while traffic runs.
func showReceived(live *show.Live, r load.Received, since time.Duration) {
	p50 := uint64(0)
	if r.Latency != nil {
		p50 = r.Latency.P50
	}
	live.Show("%6.1f s  received %s frames  %s  duplicated %s  reordered %s  flows %s  foreign %s  p50 %s",
		since.Seconds(), show.Count(r.RxPackets), show.Rate(r.RxPPS), show.Count(r.Duplicated), show.Count(r.Reordered), show.Count(r.FlowsSeen), show.Count(r.Foreign), show.Nanos(float64(p50)))
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/load/packetload"
	"linerate/internal/load/xdpload"
	"linerate/internal/port"
	"linerate/internal/stats"
	"linerate/internal/testbed/netnsbed"
)

// trafficBench is one benchmark of traffic engines over a veth wire.
type trafficBench struct {
	rounds int
	time   time.Duration
	cores  int
	flows  []int
	json   bool

	gen, sink port.Port
	talk      io.Writer
}

// trafficRow is one generator with one sink, over all rounds.
type trafficRow struct {
	Generator string    `json:"generator"`
	Sink      string    `json:"sink"`
	Flows     int       `json:"flows"`
	MPPS      []float64 `json:"mpps"` // arrivals, one per round
	Median    float64   `json:"median_mpps"`
	Ratio     float64   `json:"ratio"` // median of the rounds' ratios to the base
	Failed    string    `json:"failed,omitempty"`

	start func(ctx context.Context) error // sends until ctx ends
}

type trafficDoc struct {
	Version int           `json:"version"`
	Label   string        `json:"label"`
	Cores   int           `json:"cores"`
	Base    string        `json:"base"`
	Rows    []*trafficRow `json:"rows"`
}

func newTrafficCmd() *cobra.Command {
	b := &trafficBench{}
	cmd := &cobra.Command{
		Use:   "traffic",
		Short: "compare traffic engines with their peers, frames of 64 bytes over a veth",
		Long: `Frames of 64 bytes that arrive in the far namespace, for every engine and every
peer found on PATH (xdp-trafficgen, dpdk-testpmd, tcpreplay, trafgen). All take
turns, round after round: the ratios are medians over rounds, the machine's
drift cancels. "drop" counts and drops; "receive" accounts for every frame.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return b.run(cmd) },
	}
	fs := cmd.Flags()
	fs.IntVar(&b.rounds, "rounds", 10, "interleaved rounds")
	fs.DurationVar(&b.time, "time", 500*time.Millisecond, "measured in each run, once its frames arrive")
	fs.IntVar(&b.cores, "cores", 2, "1: everything on one CPU; 2: the receiving NAPI on another")
	fs.IntSliceVar(&b.flows, "flows", []int{1, 2000, 100000}, "flows of linerate's rows")
	fs.BoolVar(&b.json, "json", false, "print JSON")
	return cmd
}

func (b *trafficBench) run(cmd *cobra.Command) error {
	if b.rounds < 1 || b.time <= 0 || b.cores < 1 || b.cores > 2 {
		return hint.Usagef("--rounds from 1, --time above 0, --cores 1 or 2")
	}
	ctx := cmd.Context()
	bed, err := netnsbed.Up(ctx, netnsbed.Options{})
	if err != nil {
		return err
	}
	defer bed.Close()
	if b.gen, b.sink, err = bed.Bypass(); err != nil {
		return err
	}
	b.talk = cmd.ErrOrStderr()
	rows := b.rows()
	live := cli.NewLive(b.talk)
	for round := range b.rounds {
		for i, r := range rows {
			live.Show("round %d of %d: %s", round+1, b.rounds, r.Generator)
			// Another starting point each round: no row always follows the same.
			if err := b.one(ctx, rows[(i+round)%len(rows)]); err != nil {
				return err
			}
		}
	}
	live.End()
	base := summariseTraffic(rows)
	return cli.Print(cmd, b.json, trafficDoc{1, netnsbed.Label, b.cores, base, rows}, func(w io.Writer) error { return writeTraffic(w, b.cores, base, rows) })
}

// rows lists what takes turns; the base of the ratios is first.
func (b *trafficBench) rows() []*trafficRow {
	rows := trafficPeers(b.gen)
	rows = append(rows, &trafficRow{Generator: "raw sendmmsg", Sink: "drop", Flows: 1, start: func(ctx context.Context) error {
		return packetload.Raw(ctx, b.spec(1), b.gen.In)
	}})
	for _, n := range b.flows {
		for _, sink := range []string{"drop", "receive"} {
			rows = append(rows, &trafficRow{Generator: "linerate xdp", Sink: sink, Flows: n, start: b.engine(xdpload.New(), n)})
		}
	}
	return append(rows, &trafficRow{Generator: "linerate af_packet", Sink: "drop", Flows: b.flows[len(b.flows)/2], start: b.engine(packetload.NewAFPacket(), b.flows[len(b.flows)/2])})
}

// The addresses of the benchmark's frames (RFC 2544 §C.2.2).
var benchSrc, benchDst = netip.MustParseAddr("198.18.0.1"), netip.MustParseAddr("198.19.0.1")

func (b *trafficBench) spec(flows int) load.Spec {
	return load.Spec{
		Device: b.gen.Device, DstMAC: b.gen.Peer, Stream: 1, Sizes: []int{64}, CPUs: []int{0},
		Flows: load.FlowSpace{Count: flows, Src: benchSrc, Dst: benchDst},
	}
}

func (b *trafficBench) engine(e load.Engine, flows int) func(context.Context) error {
	return func(ctx context.Context) error {
		g, err := e.NewGenerator(b.spec(flows), b.gen.In)
		if err != nil {
			return err
		}
		defer g.Close()
		_, err = g.Run(ctx, load.Offer{}, nil)
		return err
	}
}

// one runs a row once and notes how many frames arrived.
func (b *trafficBench) one(ctx context.Context, r *trafficRow) error {
	count, closer, err := b.openSink(r)
	if err != nil {
		return err
	}
	defer closer.Close()
	if b.cores == 2 {
		if _, err := netnsbed.Thread(b.sink.In, b.sink.Device, 1); err != nil {
			return hint.With(err, "--cores 1 needs none")
		}
	}
	inner, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- r.start(inner) }()
	for range 60 { // until frames arrive; some take long to start
		time.Sleep(50 * time.Millisecond)
		if n, err := count(); err != nil || n > 1000 {
			break
		}
	}
	time.Sleep(300 * time.Millisecond)
	before, err := count()
	begin := time.Now()
	time.Sleep(b.time)
	after, err2 := count()
	took := time.Since(begin).Seconds()
	cancel()
	if err3 := <-done; err3 != nil && r.Failed == "" && !errors.Is(err3, context.Canceled) {
		r.Failed = err3.Error()
	}
	r.MPPS = append(r.MPPS, float64(after-before)/took/1e6)
	return errors.Join(err, err2, ctx.Err())
}

func (b *trafficBench) openSink(r *trafficRow) (func() (uint64, error), io.Closer, error) {
	if r.Sink == "drop" {
		d, err := xdpload.NewDrop(b.sink.Device, b.sink.In)
		if err != nil {
			return nil, nil, err
		}
		return d.Count, d, nil
	}
	d, err := xdpload.New().NewReceiver(b.sink.Device, b.sink.In, load.Watch{Stream: -1})
	if err != nil {
		return nil, nil, err
	}
	return func() (uint64, error) {
		got, err := d.Snapshot()
		return got.RxPackets, err
	}, d, nil
}

// summariseTraffic works out medians and ratios; the base is the first row.
func summariseTraffic(rows []*trafficRow) (base string) {
	first := rows[0]
	for _, r := range rows {
		r.Median = stats.Median(r.MPPS)
		var ratios []float64
		for i, v := range r.MPPS {
			if i < len(first.MPPS) && first.MPPS[i] > 0 {
				ratios = append(ratios, v/first.MPPS[i])
			}
		}
		if len(ratios) > 0 { // else the base sent nothing
			r.Ratio = stats.Median(ratios)
		}
	}
	return first.Generator
}

func writeTraffic(w io.Writer, cores int, base string, rows []*trafficRow) error {
	fmt.Fprintf(w, "64-byte frames arriving over a veth (%s), %d CPU(s), %d interleaved rounds, ratios to %s\n\n", netnsbed.Label, cores, len(rows[0].MPPS), base)
	_, err := fmt.Fprintf(w, "%-22s %-8s %8s  %10s  %8s  %s\n", "generator", "sink", "flows", "Mpps", "ratio", "range of Mpps")
	for _, r := range rows {
		_, err = fmt.Fprintf(w, "%-22s %-8s %8d  %10.3f  %8.2f  %.3f to %.3f  %s\n",
			r.Generator, r.Sink, r.Flows, r.Median, r.Ratio, slices.Min(r.MPPS), slices.Max(r.MPPS), r.Failed)
	}
	return err
}

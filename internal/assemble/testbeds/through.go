package testbeds

import (
	"context"
	"net"
	"net/netip"
	"time"

	"linerate/internal/load"
	"linerate/internal/port"
)

// Through offers the simplest traffic: 64-byte frames of one flow.
func Through(engine load.Engine) func(ctx context.Context, from, to port.Port, pps uint64, seconds float64) (load.Sent, load.Received, error) {
	return func(ctx context.Context, from, to port.Port, pps uint64, seconds float64) (sent load.Sent, got load.Received, err error) {
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
			_, _ = gen.Run(ctx, load.Offer{Rate: load.Rate{PPS: 100}, Limit: load.Limit{Packets: 20, Duration: time.Second}})
			_, _ = rx.Finish(ctx, time.Second)
			_ = rx.Reset()
		}
		if sent, err = gen.Run(ctx, load.Offer{Rate: load.Rate{PPS: pps}, Limit: load.Limit{Duration: time.Duration(seconds * float64(time.Second))}}); err != nil {
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

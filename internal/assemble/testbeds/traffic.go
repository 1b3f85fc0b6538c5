package testbeds

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/load/remoteload"
	"linerate/internal/port"
	"linerate/internal/testbed"
	"linerate/internal/testbed/sshbed"
)

// Traffic generates and counts frames on a testbed's machines.
type Traffic interface {
	load.Engine
	// Ready prepares a side's machine to generate.
	Ready(ctx context.Context, side port.Side) error
	Close() error
}

// Engine returns the testbed's traffic engine.
func (m *Machines) Engine() (Traffic, error) {
	if m.File.Traffic.Tool != testbed.ToolLinerate {
		return m.pktGen()
	}
	g, err := m.side(testbed.Generator)
	if err != nil {
		return nil, err
	}
	r := g
	if !m.File.OneOuter() {
		if r, err = m.side(testbed.Receiver); err != nil {
			return nil, err
		}
	}
	return &remoteload.Engine{Generator: g, Receiver: r}, nil
}

// side returns a host's part in the traffic.
func (m *Machines) side(role string) (*remoteload.Side, error) {
	h := m.File.Host(role)
	c, err := m.conn(role)
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	name := h.SSH
	name = cmp.Or(name, "this machine")
	return &remoteload.Side{Start: func(ctx context.Context) (*remoteload.Link, error) {
		return remoteload.Start(ctx, remoteload.Far{Name: name, Host: c, Local: h.SSH == "", Program: program})
	}}, nil
}

// pktGen is netmap's pkt-gen with the connections to its machines.
type pktGen struct {
	*remoteload.PktGen
	conns []sshbed.Conn
}

func (m *Machines) pktGen() (Traffic, error) {
	t := pktGen{PktGen: &remoteload.PktGen{Generate: m.File.Traffic.Generate, Receive: m.File.Traffic.Receive}}
	for role, at := range map[string]*remoteload.Machine{testbed.Generator: &t.PktGen.Generator, testbed.Receiver: &t.PktGen.Receiver} {
		c, err := m.conn(role)
		if err != nil {
			return nil, errors.Join(err, t.Close())
		}
		t.conns = append(t.conns, c)
		*at = remoteload.Machine{Host: c, Count: func(ctx context.Context, device string) (remoteload.Counts, error) {
			received, sent, err := sshbed.Counts(ctx, c, device)
			return remoteload.Counts{Received: received, Sent: sent}, err
		}}
	}
	return t, nil
}

func (t pktGen) Ready(context.Context, port.Side) error { return nil }

func (t pktGen) Close() (err error) {
	for _, c := range t.conns {
		err = errors.Join(err, c.Close())
	}
	return err
}

// Shout sends n broadcast frames from an interface of a side's machine, and returns the number
// sent; any receiver accepts them.
func Shout(engine load.Engine) func(ctx context.Context, side port.Side, device string, n int) (uint64, error) {
	return func(ctx context.Context, side port.Side, device string, n int) (uint64, error) {
		spec := load.Spec{Device: device, Side: side, DstMAC: broadcast, Stream: 8, Sizes: []int{64},
			Flows: load.FlowSpace{Count: 1, Src: anyFrom, Dst: anyTo, SrcPort: 1024, DstPort: 9}}
		gen, err := engine.NewGenerator(spec, port.Here)
		if err != nil {
			return 0, err
		}
		defer gen.Close()
		sent, err := gen.Run(ctx, load.Offer{Rate: load.Rate{PPS: 2000}, Limit: load.Limit{Packets: uint64(n)}})
		return sent.TxPackets, err
	}
}

// inNamespace connects to a network namespace (ip-netns(8)) of a Linux host.
type inNamespace struct {
	sshbed.Conn
	name string
}

// enter runs a script ($2) in a namespace ($1), after prepare.
const (
	prepare = `PATH=$PATH:/sbin:/usr/sbin; n=$1 s=$2; shift 2; `
	enter   = `ip netns exec $n /bin/sh -c "$s" linerate "$@"`
)

func (c inNamespace) Run(ctx context.Context, script string, args []string, stdin []byte) ([]byte, error) {
	out, err := c.Conn.Run(ctx, prepare+enter, append([]string{c.name, script}, args...), stdin)
	if err != nil && strings.Contains(err.Error(), "Cannot open network namespace") {
		err = hint.With(err, "make it there (ip netns add %s) and move its interfaces there, or correct namespace: in the testbed's file", c.name)
	}
	return out, err
}

func (c inNamespace) Pipe(ctx context.Context, script string, args ...string) (io.ReadWriteCloser, error) {
	return c.Conn.Pipe(ctx, prepare+"exec "+enter, append([]string{c.name, script}, args...)...)
}

// Through offers minimal traffic: 64-byte frames of one flow.
func Through(engine load.Engine) func(ctx context.Context, from, to port.Port, pps uint64, seconds float64) (load.Sent, load.Received, error) {
	return func(ctx context.Context, from, to port.Port, pps uint64, seconds float64) (sent load.Sent, got load.Received, err error) {
		src, dst := from.IPv4.Addr(), to.IPv4.Addr()
		if !src.IsValid() || !dst.IsValid() { // a link without addresses: use arbitrary ones
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
		if pps > 0 { // neighbours are resolved before counting starts
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

// broadcast is the broadcast address (IEEE 802); anyFrom and anyTo are in the benchmarking range
// (RFC 2544 §C.2.2), for frames that no host should receive.
var (
	broadcast = net.HardwareAddr{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	anyFrom   = netip.MustParseAddr("198.18.255.1")
	anyTo     = netip.MustParseAddr("198.19.255.1")
)

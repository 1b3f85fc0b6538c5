package testbeds

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/load/remoteload"
	"linerate/internal/port"
	"linerate/internal/testbed"
	"linerate/internal/testbed/sshbed"
)

// Traffic is what makes and counts frames on a testbed's machines: this program,
// run there.
type Traffic struct{ *remoteload.Engine }

// Engine makes what generates and counts.
func (m *Machines) Engine() (Traffic, error) {
	g, err := m.side(testbed.Generator)
	if err != nil {
		return Traffic{}, err
	}
	r := g
	if !m.File.OneOuter() {
		if r, err = m.side(testbed.Receiver); err != nil {
			return Traffic{}, err
		}
	}
	return Traffic{&remoteload.Engine{Generator: g, Receiver: r}}, nil
}

func (e Traffic) side(role string) *remoteload.Side {
	if role == testbed.Receiver {
		return e.Receiver
	}
	return e.Generator
}

// Ready gets a role's host ready to shout.
func (e Traffic) Ready(ctx context.Context, role string) error {
	_, err := e.side(role).Link(ctx)
	return err
}

// Shout sends n frames to everybody, which any receiver takes, from an interface of a
// role's host, and returns how many it sent.
func (e Traffic) Shout(ctx context.Context, role, device string, n int) (uint64, error) {
	one := remoteload.Engine{Generator: e.side(role), Receiver: e.side(role)}
	gen, err := one.NewGenerator(load.Spec{Device: device, DstMAC: broadcast, Stream: 8, Sizes: []int{64},
		Flows: load.FlowSpace{Count: 1, Src: anyFrom, Dst: anyTo, SrcPort: 1024, DstPort: 9}}, port.Here)
	if err != nil {
		return 0, err
	}
	defer gen.Close()
	sent, err := gen.Run(ctx, load.Offer{Rate: load.Rate{PPS: 2000}, Limit: load.Limit{Packets: uint64(n)}}, nil)
	return sent.TxPackets, err
}

// Close ends the far programs.
func (e Traffic) Close() error { return errors.Join(e.Generator.Close(), e.Receiver.Close()) }

// side is a host's part in the traffic.
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

// inNamespace reaches a network namespace (ip-netns(8)) of a Linux host.
type inNamespace struct {
	sshbed.Conn
	name string
}

// enter runs a script ($2) in a namespace ($1); after prepare.
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

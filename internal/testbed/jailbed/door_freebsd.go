package jailbed

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"linerate/internal/host"
	"linerate/internal/knob"
	"linerate/internal/load/wire"
)

// helperSocket is the descriptor of a helper's socket.
const helperSocket = 3

// Door opens a port's descriptors: a helper process in the port's jail opens
// them and passes them out.
func (b *Bed) Door(o wire.Order) (wire.Opened, error) {
	in := b.gen
	if receives(end{Device: o.Device}) {
		in = b.sink
	}
	if in == nil {
		return wire.Opened{}, fmt.Errorf("open %s: the testbed is closed", o.Device)
	}
	return b.opened(in, o)
}

// routeSocket is the kind of an Order for a routing socket, which Serve itself opens.
const routeSocket = "route"

// routeSocket opens a routing socket of a jail's network stack.
func (b *Bed) routeSocket(in *jail) (*os.File, error) {
	got, err := b.opened(in, wire.Order{Kind: routeSocket, Device: "a routing socket"})
	return got.File, err
}

// opened lets a helper in a jail execute an Order.
func (b *Bed) opened(in *jail, o wire.Order) (wire.Opened, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return wire.Opened{}, fmt.Errorf("make a socket to a helper: %w", err)
	}
	ours, theirs := pair[0], os.NewFile(uintptr(pair[1]), "helper")
	defer unix.Close(ours)
	order, err := json.Marshal(o)
	if err != nil {
		theirs.Close()
		return wire.Opened{}, err
	}
	c := exec.Command(b.options.Helper[0], append(b.options.Helper[1:], string(order))...)
	c.ExtraFiles = []*os.File{theirs}
	c.SysProcAttr = &syscall.SysProcAttr{Jail: in.id, Setpgid: true, Pdeathsig: syscall.SIGKILL}
	failed := host.FirstBytes{Limit: answerMost}
	c.Stderr = &failed
	err = c.Start()
	theirs.Close()
	if err != nil {
		return wire.Opened{}, fmt.Errorf("run a helper in jail %s: %w", in.name, err)
	}
	got, err := wire.Take(ours)
	if waited := c.Wait(); err != nil && waited != nil && failed.String() != "" {
		err = fmt.Errorf("%w (the helper in jail %s: %w: %s)", err, in.name, waited, failed.String())
	}
	return got, err
}

// Serve is the helper: it executes an Order with open, and passes the
// descriptor out.
func Serve(order string, open wire.Door) error {
	var o wire.Order
	if err := json.Unmarshal([]byte(order), &o); err != nil {
		return fmt.Errorf("read what to open: %w", err)
	}
	if o.Kind == routeSocket {
		open = openRouteSocket
	}
	return wire.Hand(helperSocket, o, open)
}

func openRouteSocket(o wire.Order) (wire.Opened, error) {
	fd, err := knob.OpenRouteSocket()
	if err != nil {
		return wire.Opened{}, err
	}
	return wire.Opened{File: os.NewFile(uintptr(fd), o.Device)}, nil
}

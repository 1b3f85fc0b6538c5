package xdpload

import (
	"fmt"

	"github.com/cilium/ebpf/link"

	"linerate/internal/load/wire"
	"linerate/internal/port"
)

// Drop is the cheapest sink there is: it counts frames and drops them. It shows
// what a receiver that accounts for frames costs.
type Drop struct{ r Receiver }

// NewDrop attaches a Drop to a device.
func NewDrop(device string, in port.Place) (*Drop, error) {
	d := &Drop{}
	var err error
	if d.r.device, err = wire.Look(device, in); err != nil {
		return nil, err
	}
	if err := d.r.loadPrograms(receiveReceiveConfig{Stream: -1, Pages: 1}); err != nil {
		return nil, err
	}
	err = in(func() (err error) {
		d.r.link, err = link.AttachXDP(link.XDPOptions{Program: d.r.objs.Drop, Interface: d.r.device.Index})
		return err
	})
	if err != nil {
		d.r.objs.Close()
		return nil, loadError("attach to "+device, err)
	}
	return d, nil
}

// Count is how many frames arrived so far.
func (d *Drop) Count() (uint64, error) {
	n, err := d.r.other()
	if err != nil {
		return 0, fmt.Errorf("count frames: %w", err)
	}
	return n.Foreign, nil
}

// Close detaches it.
func (d *Drop) Close() error { return d.r.Close() }

//go:build linux || freebsd

package wire

import (
	"fmt"
	"net"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/port"
)

// Look reads a device's properties, and refuses one that cannot carry traffic.
func Look(name string, in port.Place) (d Device, err error) {
	err = in(func() error {
		if d, err = look(name); err == nil {
			err = d.usable()
		}
		return err
	})
	return d, err
}

// usable refuses a device that is down or not Ethernet.
func (d Device) usable() error {
	switch {
	case !d.Up:
		return hint.With(fmt.Errorf("device %s is down", d.Name), setUp, d.Name)
	case !d.Carrier:
		return hint.With(fmt.Errorf("device %s has no carrier", d.Name), "is its other end up? on a pair: "+setUp, "PEER")
	case len(d.MAC) != 6:
		return hint.With(fmt.Errorf("device %s is not an Ethernet device", d.Name), "traffic needs an interface with a MAC address")
	}
	return nil
}

// noDevice returns the error for an unknown device, with the likely intended one or where others are.
func noDevice(name string, cause error) error {
	var known []string
	if all, err := net.Interfaces(); err == nil {
		known = list.Map(all, func(i net.Interface) string { return i.Name })
	}
	err := fmt.Errorf("device %q: %w", name, cause)
	if near := hint.Nearest(name, known, 1); len(near) > 0 {
		return hint.With(err, "did you mean %s?", near[0])
	}
	return hint.With(err, "here are %s; "+elsewhere, strings.Join(known, ", "))
}

// Fits refuses frame sizes that a device does not carry.
func Fits(d Device, sizes []int) error {
	for _, n := range sizes {
		if n-18 > d.MTU {
			return hint.With(hint.Usagef("frame size %d: %s carries up to %d (MTU %d)", n, d.Name, d.MTU+18, d.MTU),
				setMTU+", and the same on the other end", d.Name, n-18)
		}
	}
	return nil
}

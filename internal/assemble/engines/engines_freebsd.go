// Package engines finds traffic engines by their names.
package engines

import (
	"fmt"
	"io"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/load/bpfload"
	"linerate/internal/load/netmapload"
	"linerate/internal/load/wire"
	"linerate/internal/testbed/jailbed"
)

// Auto is the name of whichever engine works.
const Auto = "auto"

// What help says of the engines.
const (
	Sending   = "auto (netmap where the driver has it), netmap (batches in shared memory) or bpf (a system call a frame)"
	Receiving = "auto, netmap or bpf"
)

// Named returns the traffic engine of a name; auto tells talk when it
// does not use the fastest, and why.
func Named(name string, talk io.Writer) (load.Engine, error) {
	switch name {
	case Auto:
		say := func(what string) { fmt.Fprintf(talk, "linerate: %s\n", what) }
		return load.Auto(say, netmapload.Native(OpenHere), bpfload.New(OpenHere)), nil
	case netmapload.Name:
		return netmapload.New(OpenHere), nil
	case bpfload.Name:
		return bpfload.New(OpenHere), nil
	}
	return nil, unknown(name)
}

// ForLab is the same for a lab, whose ports are opened through its door.
func ForLab(name string, door wire.Door) (load.Engine, error) {
	switch name {
	case Auto, bpfload.Name:
		return bpfload.Interleaving(door, jailbed.Spent), nil
	case netmapload.Name:
		return netmapload.New(door), nil
	}
	return nil, unknown(name)
}

func unknown(name string) error {
	return hint.Unknown("engine", name, []string{Auto, netmapload.Name, bpfload.Name})
}

// OpenHere opens what an engine wants in this process's own network stack.
func OpenHere(o wire.Order) (wire.Opened, error) {
	switch o.Kind {
	case bpfload.Name:
		return bpfload.Open(o)
	case netmapload.Name:
		return netmapload.Open(o)
	}
	return wire.Opened{}, fmt.Errorf("open %s for an unknown engine %q", o.Device, o.Kind)
}

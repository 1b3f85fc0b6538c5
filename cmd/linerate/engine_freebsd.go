package main

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

// autoEngine is the name of whichever engine works.
const autoEngine = "auto"

// What help says of the engines.
const (
	sendingEngines   = "auto (netmap where the driver has it), netmap (batches in shared memory) or bpf (a system call a frame)"
	receivingEngines = "auto, netmap or bpf"
)

// engineNamed returns the traffic engine of a name; auto tells talk when it
// does not use the fastest, and why.
func engineNamed(name string, talk io.Writer) (load.Engine, error) {
	switch name {
	case autoEngine:
		say := func(what string) { fmt.Fprintf(talk, "linerate: %s\n", what) }
		return load.Auto(say, netmapload.Native(openHere), bpfload.New(openHere)), nil
	case netmapload.Name:
		return netmapload.New(openHere), nil
	case bpfload.Name:
		return bpfload.New(openHere), nil
	}
	return nil, unknownEngine(name)
}

// labEngine is the same for a lab, whose ports are opened through its door.
func labEngine(name string, door wire.Door) (load.Engine, error) {
	switch name {
	case autoEngine, bpfload.Name:
		return bpfload.Interleaving(door, jailbed.Spent), nil
	case netmapload.Name:
		return netmapload.New(door), nil
	}
	return nil, unknownEngine(name)
}

func unknownEngine(name string) error {
	return hint.Unknown("engine", name, []string{autoEngine, netmapload.Name, bpfload.Name})
}

// openHere opens what an engine wants in this process's own network stack.
func openHere(o wire.Order) (wire.Opened, error) {
	switch o.Kind {
	case bpfload.Name:
		return bpfload.Open(o)
	case netmapload.Name:
		return netmapload.Open(o)
	}
	return wire.Opened{}, fmt.Errorf("open %s for an unknown engine %q", o.Device, o.Kind)
}

package testbeds

import (
	"fmt"
	"io"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/load/packetload"
	"linerate/internal/load/wire"
	"linerate/internal/testbed/jailbed"
)

// Auto is the name of whichever engine works.
const AutoEngine = "auto"

// What help says of the engines.
const (
	SendingEngines   = "auto (netmap where the driver has it), netmap (batches in shared memory) or bpf (a system call a frame)"
	ReceivingEngines = "auto, netmap or bpf"
)

// Named returns the traffic engine of a name; auto tells talk when it
// does not use the fastest, and why.
func EngineNamed(name string, talk io.Writer) (load.Engine, error) {
	switch name {
	case AutoEngine:
		say := func(what string) { fmt.Fprintf(talk, "linerate: %s\n", what) }
		return load.Auto(say, packetload.NativeNetmap(OpenPort), packetload.NewBPF(OpenPort)), nil
	case packetload.Netmap:
		return packetload.NewNetmap(OpenPort), nil
	case packetload.BPF:
		return packetload.NewBPF(OpenPort), nil
	}
	return nil, unknownEngine(name)
}

// ForLab is the same for a lab, whose ports are opened through its door.
func LabEngine(name string, door wire.Door) (load.Engine, error) {
	switch name {
	case AutoEngine, packetload.BPF:
		return packetload.InterleavingBPF(door, jailbed.Spent), nil
	case packetload.Netmap:
		return packetload.NewNetmap(door), nil
	}
	return nil, unknownEngine(name)
}

func unknownEngine(name string) error {
	return hint.Unknown("engine", name, []string{AutoEngine, packetload.Netmap, packetload.BPF})
}

// OpenHere opens what an engine wants in this process's own network stack.
func OpenPort(o wire.Order) (wire.Opened, error) {
	switch o.Kind {
	case packetload.BPF:
		return packetload.OpenBPF(o)
	case packetload.Netmap:
		return packetload.OpenNetmap(o)
	}
	return wire.Opened{}, fmt.Errorf("open %s for an unknown engine %q", o.Device, o.Kind)
}

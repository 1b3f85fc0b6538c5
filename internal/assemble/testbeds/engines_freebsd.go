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
	SendingEngines   = "auto or bpf (a system call a frame)"
	ReceivingEngines = "auto or bpf"
)

// EngineNamed returns the traffic engine of a name.
func EngineNamed(name string, _ io.Writer) (load.Engine, error) {
	if name == AutoEngine || name == packetload.BPF {
		return packetload.NewBPF(OpenPort), nil
	}
	return nil, unknownEngine(name)
}

// ForLab is the same for a lab, whose ports are opened through its door.
func LabEngine(name string, door wire.Door) (load.Engine, error) {
	if name == AutoEngine || name == packetload.BPF {
		return packetload.InterleavingBPF(door, jailbed.Spent), nil
	}
	return nil, unknownEngine(name)
}

func unknownEngine(name string) error {
	return hint.Unknown("engine", name, []string{AutoEngine, packetload.BPF})
}

// OpenHere opens what an engine wants in this process's own network stack.
func OpenPort(o wire.Order) (wire.Opened, error) {
	if o.Kind == packetload.BPF {
		return packetload.OpenBPF(o)
	}
	return wire.Opened{}, fmt.Errorf("open %s for an unknown engine %q", o.Device, o.Kind)
}

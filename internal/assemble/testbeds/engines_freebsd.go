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

// AutoEngine selects the engine that works.
const AutoEngine = "auto"

// Descriptions of the engines for help.
const (
	SendingEngines   = "auto or bpf (a system call a frame)"
	ReceivingEngines = "auto or bpf"
)

// EngineNamed returns the traffic engine with a name.
func EngineNamed(name string, _ io.Writer) (load.Engine, error) {
	if name == AutoEngine || name == packetload.BPF {
		return packetload.NewBPF(OpenPort), nil
	}
	return nil, unknownEngine(name)
}

// LabEngine is EngineNamed for a lab, whose ports are opened through its door.
func LabEngine(name string, door wire.Door) (load.Engine, error) {
	if name == AutoEngine || name == packetload.BPF {
		return packetload.InterleavingBPF(door, jailbed.Spent), nil
	}
	return nil, unknownEngine(name)
}

func unknownEngine(name string) error {
	return hint.Unknown("engine", name, []string{AutoEngine, packetload.BPF})
}

// OpenPort opens a port for an engine in this process's own network stack.
func OpenPort(o wire.Order) (wire.Opened, error) {
	if o.Kind == packetload.BPF {
		return packetload.OpenBPF(o)
	}
	return wire.Opened{}, fmt.Errorf("open %s: unknown engine %q", o.Device, o.Kind)
}

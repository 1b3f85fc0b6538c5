package testbeds

import (
	"fmt"
	"io"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/load/packetload"
	"linerate/internal/load/xdpload"
)

// AutoEngine selects the fastest engine that works.
const AutoEngine = "auto"

// Descriptions of the engines for help.
const (
	SendingEngines   = "auto, xdp (live frames from eBPF) or af_packet"
	ReceivingEngines = "auto, xdp (counts in eBPF) or af_packet"
)

// EngineNamed returns the traffic engine with a name; for auto it writes to talk why it does not
// use the fastest.
func EngineNamed(name string, talk io.Writer) (load.Engine, error) {
	switch name {
	case AutoEngine:
		say := func(what string) { fmt.Fprintf(talk, "linerate: %s\n", what) }
		return load.Auto(say, xdpload.New(), packetload.NewAFPacket()), nil
	case xdpload.Name:
		return xdpload.New(), nil
	case packetload.AFPacket:
		return packetload.NewAFPacket(), nil
	}
	return nil, hint.Unknown("engine", name, []string{AutoEngine, xdpload.Name, packetload.AFPacket})
}

// Package engines finds traffic engines by their names.
package engines

import (
	"fmt"
	"io"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/load/packetload"
	"linerate/internal/load/xdpload"
)

// Auto is the name of whichever engine works, the fastest first.
const Auto = "auto"

// What help says of the engines.
const (
	Sending   = "auto, xdp (live frames from eBPF) or af_packet"
	Receiving = "auto, xdp (counts in eBPF) or af_packet"
)

// Named returns the traffic engine of a name; auto tells talk when it
// does not use the fastest, and why.
func Named(name string, talk io.Writer) (load.Engine, error) {
	switch name {
	case Auto:
		say := func(what string) { fmt.Fprintf(talk, "linerate: %s\n", what) }
		return load.Auto(say, xdpload.New(), packetload.New()), nil
	case xdpload.Name:
		return xdpload.New(), nil
	case packetload.Name:
		return packetload.New(), nil
	}
	return nil, hint.Unknown("engine", name, []string{Auto, xdpload.Name, packetload.Name})
}

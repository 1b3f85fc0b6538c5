// Package packetload generates and counts traffic through AF_PACKET sockets:
// slower than xdpload, but it needs CAP_NET_RAW only, as a user namespace of
// one's own gives, sends any size and works on any device.
package packetload

import (
	"errors"

	"linerate/internal/load"
	"linerate/internal/testbed"
)

// Name is the engine's, as in load.Sent.
const Name = "af_packet"

type engine struct{}

// New returns the engine.
func New() load.Engine { return engine{} }

func (engine) Name() string { return Name }

func (engine) NewGenerator(spec load.Spec, in testbed.Place) (load.Generator, error) {
	return nil, errors.New("the af_packet engine is not built yet")
}

func (engine) NewReceiver(device string, in testbed.Place, w load.Watch) (load.Receiver, error) {
	return nil, errors.New("the af_packet engine is not built yet")
}

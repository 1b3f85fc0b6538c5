package packetload

import (
	"errors"
	"testing"

	"linerate/internal/load"
	"linerate/internal/load/wire"
)

// TestNative: lo0's driver has no netmap, so nothing is opened; a device that is
// not there is not merely one without.
func TestNative(t *testing.T) {
	opened := 0
	e := NativeNetmap(func(wire.Order) (wire.Opened, error) { opened++; return wire.Opened{}, errors.New("opened") })
	if _, err := e.NewReceiver("lo0", nil, load.Watch{}); !errors.Is(err, load.ErrNotHere) {
		t.Errorf("lo0: %v", err)
	}
	if _, err := e.NewReceiver("nosuch0", nil, load.Watch{}); err == nil || errors.Is(err, load.ErrNotHere) {
		t.Errorf("no device: %v", err)
	}
	if opened > 0 {
		t.Errorf("%d ports were opened", opened)
	}
}

package packetload

import (
	"errors"
	"fmt"
	"time"
)

// Batch is how many frames a worker hands over at once, at most.
const Batch = 64

// Port is one worker's way into a device. Only that worker uses it.
type Port interface {
	// Send sends frames, in order, and returns how many the device took.
	// Fewer than all without an error: it has no room for the rest just
	// now. A frame's bytes are the worker's again when Send returns.
	Send(frames [][]byte) (int, error)
	Close() error
}

// sendTries is how often a single frame is tried, at a millisecond each.
const sendTries = 500

// one sends a single frame, again if the device has no room for it just now.
func one(p Port, frame []byte) error {
	for range sendTries {
		n, err := p.Send([][]byte{frame})
		if n > 0 || err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return errors.New("the device has no room for " + fmt.Sprintf("a frame of %d bytes", len(frame)))
}

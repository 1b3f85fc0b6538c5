package wire

import (
	"context"
	"time"

	"linerate/internal/load"
)

// Worker is what one worker of a generator sent, for its end-of-stream frames.
type Worker struct {
	Flows     int
	Total     uint64
	NeverLeft uint64   // as load.Ending's
	Counts    []uint32 // of random order, else nil
}

const (
	endRepeats = 5                     // of a summary
	endChunks  = 3                     // of each message with counts
	endPause   = 10 * time.Millisecond // between repeats, so that a full queue does not lose them all
	endBytes   = 1280 + 14             // an IPv6 link carries this without fragments
)

// SendEnds closes the account of a run through a device: repeated
// end-of-stream frames, at a low rate, under the addresses of several flows in
// case one is blocked. send sends one frame.
func SendEnds(ctx context.Context, send func([]byte) error, d Device, f *load.Framer, stamp load.Stamp, workers []Worker) error {
	frames := endFrames(d, f, stamp, workers)
	repeats := endRepeats
	if len(frames) > len(workers) {
		repeats = endChunks
	}
	if n := f.Ends(); n > 0 {
		repeats = n
	}
	flows := f.Flows().Count
	for r := range repeats {
		if r > 0 {
			time.Sleep(endPause)
		}
		for i, build := range frames {
			if err := send(build((r*flows/repeats + i) % flows)); err != nil {
				return err
			}
			if i%8 == 7 {
				time.Sleep(400 * time.Microsecond) // 20,000 a second
			}
		}
		if ctx.Err() != nil && r >= 2 {
			break
		}
	}
	return nil
}

// endFrames prepares the messages; each is built for the flow whose addresses
// it is to carry.
func endFrames(d Device, f *load.Framer, stamp load.Stamp, workers []Worker) []func(flow int) []byte {
	var frames []func(int) []byte
	room := max(1, f.EndRoom(min(endBytes, d.MTU+14)))
	for w, k := range workers {
		m := load.Ending{
			Random: k.Counts != nil, Worker: uint16(w), Workers: uint16(len(workers)),
			Flows: uint32(k.Flows), Total: k.Total, NeverLeft: k.NeverLeft,
		}
		add := func(m load.Ending) {
			frames = append(frames, func(flow int) []byte { return f.End(flow, stamp, m) })
		}
		for first := 0; first < len(k.Counts); first += room {
			part := m
			part.First, part.Counts = uint32(first), k.Counts[first:min(first+room, len(k.Counts))]
			add(part)
		}
		if k.Counts == nil {
			add(m)
		}
	}
	return frames
}

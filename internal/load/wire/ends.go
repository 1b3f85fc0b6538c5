//go:build linux || freebsd

package wire

import (
	"context"
	"fmt"
	"time"

	"linerate/internal/load"
)

// Worker is what one worker of a generator sent, for its end-of-stream frames.
type Worker struct {
	Total     uint64
	NeverLeft uint64 // as in load.Ending
}

const (
	endRepeats = 5                     // for each worker's frame
	endPause   = 10 * time.Millisecond // between repetitions, so that a full queue does not lose them all
)

// CPUsOf returns the CPUs of a spec's workers: at most as many as flows.
func CPUsOf(spec load.Spec, f *load.Framer) []int {
	if len(spec.CPUs) == 0 {
		return []int{-1}
	}
	return spec.CPUs[:min(len(spec.CPUs), f.Flows().Count)]
}

// CloseRun sends the end-of-stream frames of a run's workers, and adds warnings to the
// account.
func CloseRun(ctx context.Context, send func([]byte) error, spec load.Spec, f *load.Framer, run uint16, workers []Worker, sent *load.Sent) {
	if err := SendEnds(ctx, send, f, load.Stamp{Stream: spec.Stream, Run: run, Time: Monotonic()}, workers); err != nil {
		sent.Warnings = append(sent.Warnings, fmt.Sprintf("no end of stream was sent, so that a receiver cannot know the loss: %v", err))
	}
	if n := len(spec.CPUs) - len(workers); n > 0 {
		sent.Warnings = append(sent.Warnings, fmt.Sprintf("%d of %d CPUs sent nothing: a flow is sent from one CPU, and there are %d flows", n, len(spec.CPUs), len(workers)))
	}
}

// SendEnds completes the account of a run: it sends end-of-stream frames
// repeatedly, at a low rate, with the addresses of several flows in case one is
// blocked. send sends one frame.
func SendEnds(ctx context.Context, send func([]byte) error, f *load.Framer, stamp load.Stamp, workers []Worker) error {
	repeats := endRepeats
	if n := f.Ends(); n > 0 {
		repeats = n
	}
	flows := f.Flows().Count
	for r := range repeats {
		if r > 0 {
			time.Sleep(endPause)
		}
		for i, w := range workers {
			m := load.Ending{Worker: uint16(i), Workers: uint16(len(workers)), Total: w.Total, NeverLeft: w.NeverLeft}
			if err := send(f.End((r*flows/repeats+i)%flows, stamp, m)); err != nil {
				return err
			}
			if i%8 == 7 {
				time.Sleep(400 * time.Microsecond) // 20,000 frames per second at most
			}
		}
		if ctx.Err() != nil && r >= 2 {
			break
		}
	}
	return nil
}

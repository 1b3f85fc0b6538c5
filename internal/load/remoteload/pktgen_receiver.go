package remoteload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"linerate/internal/wait"

	"linerate/internal/load"
)

// pktReceiver counts with a pkt-gen that runs from Reset to Finish.
type pktReceiver struct {
	e      *PktGen
	stream int
	device string
	run    *program // nil if none is running
	before Counts
	got    load.Received
}

// started bounds how long a receiver may take to start; settling is the interval
// at which an interface's counters are read until they stop changing.
const (
	started  = 30 * time.Second
	settling = 250 * time.Millisecond
)

// Reset restarts counting.
func (r *pktReceiver) Reset() error {
	ctx, cancel := context.WithTimeout(context.Background(), started)
	defer cancel()
	if err := r.Close(); err != nil {
		return err
	}
	r.e.forget(r.stream)
	r.got = load.Received{Engine: r.e.Name()}
	var err error
	if r.before, err = r.e.Receiver.Count(ctx, r.device); err != nil {
		return err
	}
	// It may outlive ctx, but runs for at most a day after the controller is gone.
	if r.run, err = start(context.Background(), r.e.Receiver.Host, r.e.receiving(r.device), 24*time.Hour); err != nil {
		return err
	}
	if err := r.run.await(ctx, pktGenReady); err != nil {
		return errors.Join(fmt.Errorf("start the receiver: %w", err), r.Close())
	}
	return nil
}

// Snapshot returns the account of the last Finish: pkt-gen reports only at its end.
func (r *pktReceiver) Snapshot() (load.Received, error) { return r.got, nil }

// Finish waits until nothing more arrives, ends the program and reads its account.
func (r *pktReceiver) Finish(ctx context.Context, patience time.Duration) (load.Received, error) {
	count := func() (Counts, error) { return r.e.Receiver.Count(ctx, r.device) }
	now, _, err := wait.Settled(ctx, settling, patience, count, func(a, b Counts) bool { return a == b })
	if err != nil {
		return r.got, err
	}
	counted := now.Received - r.before.Received
	sent := r.e.sent(r.stream)
	g := load.Received{Engine: r.e.Name(), RxPackets: counted, Seconds: sent.Seconds}
	if r.run != nil {
		if err := r.tell(&g, counted); err != nil {
			return g, err
		}
	}
	r.close(&g, sent)
	r.got = g
	return g, ctx.Err()
}

// tell ends the program and takes its account of what arrived.
func (r *pktReceiver) tell(g *load.Received, counted uint64) error {
	r.run.interrupt()
	text, err := r.run.end()
	r.run = nil
	if err != nil {
		return err
	}
	a, err := readPktGen(text)
	if err != nil {
		return err
	}
	g.RxPackets = a.packets
	if counted > 0 && differ(counted, a.packets) {
		g.Warnings = append(g.Warnings, fmt.Sprintf("pkt-gen says that %d frames arrived, and %s counts %d", a.packets, r.device, counted))
	}
	return nil
}

// close completes the account: what was sent and did not arrive is lost. The
// interface also counts unsolicited frames.
func (r *pktReceiver) close(g *load.Received, sent load.Sent) {
	tx := sent.TxPackets
	if over := g.RxPackets - tx; g.RxPackets > tx && over <= chatter {
		g.RxPackets, g.Foreign = tx, over
	}
	lost := max(tx, g.RxPackets) - g.RxPackets
	g.TxPackets, g.Lost = &tx, &lost
	if tx > 0 {
		g.RxBytes = g.RxPackets * (sent.TxBytes / tx)
	}
	if g.Seconds > 0 {
		g.RxPPS = float64(g.RxPackets) / g.Seconds
	}
}

// Close ends the program.
func (r *pktReceiver) Close() error {
	if r.run == nil {
		return nil
	}
	r.run.interrupt()
	_, _ = r.run.end() // its account is not needed
	r.run = nil
	return nil
}

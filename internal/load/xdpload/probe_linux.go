package xdpload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/load/wire"
)

// fits refuses frames that live frames do not support, or that the device does not carry.
func (g *Generator) fits() error {
	if err := wire.Fits(g.device, g.spec.Sizes); err != nil {
		return err
	}
	w := g.workers[0]
	err := g.try(w.objs.Probe.FD(), len(w.frame), 0)
	if !errors.Is(err, unix.EINVAL) {
		return err
	}
	least, most := g.framer.MinSize()-4, len(w.frame)
	if err := g.try(w.objs.Probe.FD(), least, 0); err != nil {
		return loadError("run a program on live frames", err)
	}
	for most-least > 1 {
		if mid := (least + most) / 2; g.try(w.objs.Probe.FD(), mid, 0) == nil {
			least = mid
		} else {
			most = mid
		}
	}
	return hint.With(load.NotHere(fmt.Errorf("frame size %d: live frames fit in a page, up to %d bytes here", len(w.frame)+4, least+4)),
		"the af_packet engine sends any size that the MTU allows")
}

// try creates n live frames of a length. If n is not zero they are redirected
// to the device; else it only checks that the kernel accepts one.
func (g *Generator) try(fd, length int, n uint32) error {
	if n == 0 {
		// Without traffic: the generator's program drops frames until it is started.
		fd, n = g.workers[0].objs.Generate.FD(), 1
	}
	for {
		err := runLive(fd, g.framer.Probe(length), n, 1)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

const (
	probeFor   = time.Second
	probeEvery = 50 * time.Millisecond
)

// Probe sends a frame that is not traffic through the device, and checks
// whether the other end accepts it. It briefly waits for a receiver to appear.
func (g *Generator) Probe(ctx context.Context) error {
	if g.probed {
		return nil
	}
	longest := len(g.workers[0].frame)
	for end := time.Now().Add(probeFor); ; time.Sleep(probeEvery) {
		err := g.probe(60)
		if err == nil && longest > 60 {
			if err = g.probe(longest); err != nil {
				return g.refusal(longest, err)
			}
		}
		if err == nil {
			g.probed = true
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().After(end) {
			return g.refusal(60, err)
		}
	}
}

var errRefused = errors.New("refused")

// probe sends one frame and returns why it was refused, or nil.
func (g *Generator) probe(length int) error {
	before, _ := g.refused.Count()
	err := g.in(func() error { return g.try(g.workers[0].objs.Probe.FD(), length, 1) })
	if err != nil {
		return err
	}
	after, reason := g.refused.Count()
	if after == before {
		return nil
	}
	return errors.Join(errRefused, reason)
}

// refusal explains why the other end accepted no frame.
func (g *Generator) refusal(length int, err error) error {
	name := g.device.Name
	if !errors.Is(err, errRefused) {
		return loadError("run a program on live frames", err)
	}
	if length > 60 {
		return hint.With(load.NotHere(fmt.Errorf("the other end of %s drops frames of %d bytes but takes shorter ones", name, length+4)),
			"raise the MTU of the other end: ip link set dev PEER mtu %d", length-14)
	}
	if !g.device.Veth {
		return hint.With(load.NotHere(fmt.Errorf("the driver of %s does not take redirected frames: %w", name, err)), "the af_packet engine sends through any driver")
	}
	return hint.With(load.NotHere(fmt.Errorf("the other end of %s does not take live frames: it has no NAPI", name)),
		"start linerate load receive there first, or: ethtool -K PEER gro on; the af_packet engine needs neither")
}

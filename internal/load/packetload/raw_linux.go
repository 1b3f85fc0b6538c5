package packetload

import (
	"context"
	"sync/atomic"

	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/testbed"
)

// Raw sends one frame again and again, 64 to a system call, until ctx ends:
// the bare sendmmsg that a generator on AF_PACKET is compared with.
func Raw(ctx context.Context, spec load.Spec, in testbed.Place) error {
	g := &Generator{spec: spec, in: in}
	defer g.Close()
	if err := g.prepare(); err != nil {
		return err
	}
	w := g.workers[0]
	w.reset(g, 0, transmission{})
	w.fill(batch, 0)
	var stop atomic.Bool
	defer context.AfterFunc(ctx, func() { stop.Store(true) })()
	return in(func() error {
		return wire.OnCPU(w.cpu, func(int) error {
			for !stop.Load() {
				if _, err := w.push(batch, &stop); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

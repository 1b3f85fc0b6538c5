package packetload

import (
	"context"
	"errors"

	"linerate/internal/load"
	"linerate/internal/port"
)

// Raw sends one batch of frames again and again, 64 to a system call, until
// ctx ends: the bare sendmmsg that a generator on AF_PACKET is compared with.
func Raw(ctx context.Context, spec load.Spec, in port.Place) error {
	g, err := newGenerator(spec, in)
	if err != nil {
		return err
	}
	return errors.Join(g.Bare(ctx), g.Close())
}

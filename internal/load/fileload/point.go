package fileload

import (
	"context"
	"errors"

	"linerate/internal/load/client"
)

// RunPoint makes a pool's files below dir, offers the load, and removes them. After an
// interrupt the point has what was done till then.
func RunPoint(ctx context.Context, dir string, pool Pool, load client.Load) (p Point, err error) {
	scratch, err := NewScratch(dir)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, scratch.Close()) }()
	set, err := Prepare(ctx, scratch.Path, pool)
	if err != nil {
		return p, err
	}
	defer set.Release()
	_, system := client.CPU()
	a, m, err := set.Account(ctx, load)
	_, after := client.CPU()
	if a == nil {
		return p, err
	}
	p = Point{Files: pool.Files, Result: a.Result(m), Operations: set.Operations(), CreateSeconds: set.Created.Seconds(), KernelSeconds: (after - system).Seconds()}
	err = errors.Join(err, set.Remove(context.WithoutCancel(ctx)))
	p.RemoveSeconds, p.Removed = set.Removed.Seconds(), set.Left
	return p, err
}

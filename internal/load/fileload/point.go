package fileload

import (
	"context"
	"errors"

	"linerate/internal/load/loop"
)

// RunPoint makes a pool's files below dir, offers the load, and removes them. After an
// interrupt the point has what was done till then.
func RunPoint(ctx context.Context, dir string, pool Pool, load Load) (p Point, err error) {
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
	_, system := loop.CPU()
	a, m, err := set.Account(ctx, load)
	_, after := loop.CPU()
	if a == nil {
		return p, err
	}
	p = Point{Files: pool.Files, Result: a.Result(m), Operations: set.Operations(), CreateSeconds: set.Created.Seconds(), KernelSeconds: (after - system).Seconds()}
	err = errors.Join(err, set.Remove(context.WithoutCancel(ctx)))
	p.RemoveSeconds, p.Removed = set.Removed.Seconds(), set.Left
	return p, err
}

// RunPoint has the program make its files below dir, do the transactions and remove what
// is left. It sets Dir.
func (m *Postmark) RunPoint(ctx context.Context, dir string, load Load) (p Point, err error) {
	scratch, err := NewScratch(dir)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, scratch.Close()) }()
	m.Dir = scratch.Path
	a, meter, err := m.Account(ctx, load)
	if a == nil {
		return p, err
	}
	return Point{Files: m.Files, Result: a.Result(meter), Operations: m.Operations(), CreateSeconds: m.Created.Seconds(), RemoveSeconds: m.Removed.Seconds(),
		Removed: int(m.Said.Removed), KernelSeconds: m.System.Seconds()}, err
}

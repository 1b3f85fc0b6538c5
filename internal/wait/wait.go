// Package wait waits, for a time or for something to come to rest.
package wait

import (
	"context"
	"fmt"
	"time"
)

// For waits for a time, or for the end of a context, which is its error.
func For(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// still is for how long a count must not change, patience how long it may go on changing.
const still, patience = 20 * time.Millisecond, 2 * time.Second

// Still waits until a count of what a DUT does has stood still for 20 ms. After two
// seconds it is an error, as is what counting fails with.
func Still[T comparable](ctx context.Context, count func() (T, error)) error {
	return Quiet(ctx, still, patience, count, func(a, b T) bool { return a == b })
}

// Quiet waits until two counts of what a DUT does, so long apart, are the same to a caller.
// After its patience it is an error, as is what counting fails with.
func Quiet[T any](ctx context.Context, every, patience time.Duration, count func() (T, error), same func(a, b T) bool) error {
	_, stands, err := Settled(ctx, every, patience, count, same)
	if err == nil && !stands {
		err = fmt.Errorf("the DUT still moves packets %v after the load ended", patience)
	}
	return err
}

// Settled reads a count until two of them, so long apart, are the same, or patience is over,
// and returns the last.
func Settled[T any](ctx context.Context, every, patience time.Duration, count func() (T, error), same func(a, b T) bool) (last T, stands bool, err error) {
	deadline := time.Now().Add(patience)
	last, err = count()
	for err == nil && !stands && !time.Now().After(deadline) {
		if err := For(ctx, every); err != nil {
			return last, false, err
		}
		before := last
		last, err = count()
		stands = err == nil && same(before, last)
	}
	return last, stands, err
}

// Package wait waits for a time, or for a value to settle.
package wait

import (
	"context"
	"fmt"
	"time"
)

// For waits for a time, or until a context ends, and then returns its error.
func For(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// still is how long a count must not change, patience how long to wait for that.
const still, patience = 20 * time.Millisecond, 2 * time.Second

// Still waits until a DUT's count has not changed for 20 ms. It returns an error after two seconds,
// or if count fails.
func Still[T comparable](ctx context.Context, count func() (T, error)) error {
	return Quiet(ctx, still, patience, count, func(a, b T) bool { return a == b })
}

// Quiet waits until two consecutive counts of a DUT, every apart, are equal according to same. It
// returns an error after patience, or if count fails.
func Quiet[T any](ctx context.Context, every, patience time.Duration, count func() (T, error), same func(a, b T) bool) error {
	_, stands, err := Settled(ctx, every, patience, count, same)
	if err == nil && !stands {
		err = fmt.Errorf("the DUT still forwards packets %v after the load ended", patience)
	}
	return err
}

// Settled reads a count until two consecutive readings, every apart, are the same, or patience has
// passed, and returns the last.
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

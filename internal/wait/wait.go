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
	deadline := time.Now().Add(patience)
	last, err := count()
	for err == nil {
		if err := For(ctx, still); err != nil {
			return err
		}
		now, e := count()
		if e == nil && now == last {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the DUT still moves packets %v after the load ended", patience)
		}
		last, err = now, e
	}
	return err
}

package cli

import "context"

// UntilStopped computes until that is done or ctx is: pure work knows no
// interruption, and ends with the program then. What it computes may be looked
// at only when there is no error.
func UntilStopped(ctx context.Context, compute func()) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		compute()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

package cli

import (
	"context"
	"errors"
	"testing"
)

func TestUntilStopped(t *testing.T) {
	n := 0
	if err := UntilStopped(context.Background(), func() { n = 5 }); err != nil || n != 5 {
		t.Errorf("%d, %v", n, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	forever := make(chan struct{})
	defer close(forever)
	err := UntilStopped(ctx, func() { cancel(); <-forever })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("what never ends, interrupted: %v", err)
	}
}

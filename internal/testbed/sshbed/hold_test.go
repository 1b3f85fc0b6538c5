package sshbed

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"linerate/internal/host"
)

// frozen is a machine that accepts commands and never answers.
type frozen struct{ Conn }

func (frozen) Where() string { return "ssh://frozen" }

func (frozen) Pipe(context.Context, string, ...string) (io.ReadWriteCloser, error) {
	in, out := io.Pipe()
	ended := make(chan struct{})
	return &host.Pipe{In: nopCloser{}, Out: in, Wait: func() error { <-ended; return nil }, End: func() { out.Close(); close(ended) }}, nil
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// TestHoldEnds: waiting for the lock of a machine that stopped answering can be interrupted.
func TestHoldEnds(t *testing.T) {
	why := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := hold(ctx, frozen{}, "test")
		ended <- err
	}()
	cancel(why)
	select {
	case err := <-ended:
		if !errors.Is(err, why) {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("waiting for the machine does not end")
	}
}

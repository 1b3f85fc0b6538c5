package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/hosts"
	"linerate/internal/cli"
)

// remote holds the flags by which a verb reaches hosts over SSH.
type remote struct{ hosts.Remote }

func (r *remote) addFlags(cmd *cobra.Command) {
	addRemoteFlags(cmd, &r.Remote)
}

func addRemoteFlags(cmd *cobra.Command, r *hosts.Remote) {
	f := cmd.Flags()
	f.StringVar(&r.Become, "become", "", "over SSH, look as root by way of `sudo` or doas (without a password)")
	f.DurationVar(&r.Timeout, "timeout", 2*time.Minute, "give up on a host over SSH after this long")
	f.StringVar(&r.Config, "ssh-config", "", "read this `FILE` instead of ~/.ssh/config")
	r.Talk = cmd.ErrOrStderr
}

// atOnce bounds how many hosts are read at the same time.
const atOnce = 16

// read is what became of one of many hosts.
type read[T any] struct {
	source string
	got    T
	err    error
}

// pauses are how long is waited before a lost connection is tried again: sshd
// drops some of those that come at once (MaxStartups in sshd_config(5)).
var pauses = []time.Duration{500 * time.Millisecond, 2 * time.Second, 5 * time.Second}

// patiently reads a host, and again where the connection was lost.
func patiently[T any](ctx context.Context, source string, one func(ctx context.Context, source string) (T, error)) (T, error) {
	got, err := one(ctx, source)
	for _, pause := range pauses {
		if err == nil || !lost(err) || ctx.Err() != nil {
			break
		}
		select {
		case <-ctx.Done():
			return got, err
		case <-time.After(pause):
		}
		got, err = one(ctx, source)
	}
	return got, err
}

// lost reports a connection that ended before the host had its say, as opposed
// to a host that refuses us.
func lost(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		strings.Contains(err.Error(), "connection reset by peer") || strings.HasSuffix(err.Error(), ": EOF")
}

// readMany reads hosts side by side, and returns what became of each in the
// order given. One host's failure is its own.
func readMany[T any](cmd *cobra.Command, sources []string, one func(ctx context.Context, source string) (T, error)) []read[T] {
	ctx := cmd.Context()
	live := cli.NewLive(cmd.ErrOrStderr())
	defer live.End()
	var mu sync.Mutex
	done := 0
	out := make([]read[T], len(sources))
	slots := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i, s := range sources {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			got, err := patiently(ctx, s, one)
			out[i] = read[T]{s, got, err}
			mu.Lock()
			defer mu.Unlock()
			done++
			live.Show("%d of %d hosts read", done, len(sources))
		})
	}
	wg.Wait()
	return out
}

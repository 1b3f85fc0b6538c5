package hosts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"time"

	"linerate/internal/fleet"
	"linerate/internal/hint"
	"linerate/internal/host"
)

// Named are the hosts that arguments name, each once, or the files of one host.
func Named(args []string) (out []string, err error) {
	if len(args) < 2 || AreFiles(args) {
		return args, nil
	}
	for _, a := range args {
		if !IsRemote(a) {
			return nil, hint.With(hint.Usagef("%q is not a host over SSH", a), "several sources at once are all ssh://host; read bundles and trees one by one")
		}
		if !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out, nil
}

// List reads a list of hosts: one host a line, or Ansible's inventory.
func List(file string, read func(file, text string) ([]fleet.Target, error)) ([]fleet.Target, error) {
	text, err := host.ReadFile(file, fleet.MaxList)
	if err != nil {
		return nil, hint.With(fmt.Errorf("read the list of hosts: %w", err), "a list is a file with one ssh://[user@]host[:port] a line, or the JSON of ansible-inventory")
	}
	return read(file, string(text))
}

// Read is the result of one of many hosts.
type Read[T any] struct {
	Source string
	Got    T
	Err    error
}

// asked is the pace at which hosts that somebody waits for are read: sshd drops some
// connections that come at once (MaxStartups in sshd_config(5)).
var asked = Pace{Parallel: 16, Pause: 500 * time.Millisecond, Batch: 1}

// lost reports a connection that broke, as opposed to a host that refuses us.
func lost(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		strings.Contains(err.Error(), "connection reset by peer") || strings.HasSuffix(err.Error(), ": EOF")
}

// Each reads hosts side by side, lost connections again, and returns each one's result
// in the order given. progress is called for each host that is done.
func Each[T any](ctx context.Context, sources []string, progress func(done int), one func(ctx context.Context, source string) (T, error)) []Read[T] {
	out := make([]Read[T], len(sources))
	at, done := map[string]int{}, 0
	v := visits[Read[T]]{
		Pace: asked,
		do: func(ctx context.Context, t *fleet.Target) (Read[T], error) {
			got, err := one(ctx, t.Source)
			return Read[T]{t.Source, got, err}, err
		},
		final: func(err error) bool { return !lost(err) },
		lost:  func(t *fleet.Target, _ time.Time, why error) Read[T] { return Read[T]{Source: t.Source, Err: why} },
		store: func(_ context.Context, got []Read[T]) error {
			for _, r := range got {
				out[at[r.Source]] = r
			}
			return nil
		},
		progress: func(p Progress) {
			if p.Done() > done {
				done = p.Done()
				progress(done)
			}
		},
	}
	for i, s := range sources {
		out[i], at[s] = Read[T]{Source: s, Err: context.Canceled}, i
		v.targets = append(v.targets, fleet.Target{Name: s, Source: s})
	}
	_, _ = v.run(ctx)
	return out
}

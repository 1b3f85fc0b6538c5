package hosts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"linerate/internal/wait"

	"linerate/internal/fleet/inventory"
	"linerate/internal/hint"
	"linerate/internal/host"
)

// Listed is what a list says of hosts, by how they are reached.
type Listed map[string]inventory.Target

// Named are the hosts that arguments and a file of hosts name, each once, and what the file
// says of them.
func Named(args []string, file string) ([]string, Listed, error) {
	out, listed := slices.Clone(args), Listed{}
	if file != "" {
		more, err := List(file, inventory.Lines)
		if err != nil {
			return nil, nil, err
		}
		for _, t := range more {
			out = append(out, t.Source)
			listed[t.Source] = t
		}
	}
	out = firsts(out)
	if len(out) > 1 && (file != "" || !AreFiles(out)) {
		if i := slices.IndexFunc(out, func(s string) bool { return !IsRemote(s) }); i >= 0 {
			return nil, nil, hint.With(hint.Usagef("%q is not a host over SSH", out[i]), "several sources at once are all ssh://host; read bundles and trees one by one")
		}
	}
	return out, listed, nil
}

// firsts drops a host that is named again.
func firsts(names []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(names, func(n string) bool {
		again := seen[n]
		seen[n] = true
		return again
	})
}

// List reads a list of hosts: one host a line, or an inventory of Ansible's.
func List(file string, read func(file, text string) ([]inventory.Target, error)) ([]inventory.Target, error) {
	text, err := host.ReadFile(file, inventory.MaxBytes)
	if err != nil {
		return nil, hint.With(fmt.Errorf("read the list of hosts: %w", err), "a list is a file with one ssh://[user@]host[:port] a line, or an inventory of Ansible")
	}
	return read(file, string(text))
}

// atOnce bounds how many hosts are read at the same time.
const atOnce = 16

// Read is what became of one of many hosts.
type Read[T any] struct {
	Source string
	Got    T
	Err    error
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
		if wait.For(ctx, pause) != nil {
			return got, err
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

// Each reads hosts side by side, and returns what became of each in the order given.
// One host's failure is its own. progress hears of every host that is done.
func Each[T any](ctx context.Context, sources []string, progress func(done int), one func(ctx context.Context, source string) (T, error)) []Read[T] {
	var mu sync.Mutex
	done := 0
	out := make([]Read[T], len(sources))
	slots := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i, s := range sources {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			got, err := patiently(ctx, s, one)
			out[i] = Read[T]{s, got, err}
			mu.Lock()
			defer mu.Unlock()
			done++
			progress(done)
		})
	}
	wg.Wait()
	return out
}

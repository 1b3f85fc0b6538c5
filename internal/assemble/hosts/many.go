package hosts

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"linerate/internal/hint"
	"linerate/internal/host"
)

// maxHosts bounds a file of hosts.
const maxHosts = 10_000

// Named are the hosts that arguments and a file of hosts name, each once.
func Named(args []string, file string) ([]string, error) {
	out := slices.Clone(args)
	if file != "" {
		more, err := hostsFile(file)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	out = firsts(out)
	if len(out) > 1 {
		if i := slices.IndexFunc(out, func(s string) bool { return !IsRemote(s) }); i >= 0 {
			return nil, hint.With(hint.Usagef("%q is not a host over SSH", out[i]), "several sources at once are all ssh://host; read bundles and trees one by one")
		}
	}
	return out, nil
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

// hostsFile reads one host a line; # begins a comment, ssh:// may be left out.
func hostsFile(name string) ([]string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, hint.With(fmt.Errorf("hosts: %w", err), "--hosts wants a file with one ssh://[user@]host[:port] a line")
	}
	defer f.Close()
	var out []string
	sc := bufio.NewScanner(io.LimitReader(f, host.MaxFile))
	for sc.Scan() {
		line, _, _ := strings.Cut(sc.Text(), "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if !IsRemote(line) {
			line = "ssh://" + line
		}
		if out = append(out, line); len(out) > maxHosts {
			return nil, fmt.Errorf("hosts: %s names more than %d", name, maxHosts)
		}
	}
	if err := sc.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("hosts: a line of %s is too long for the name of a host", name)
	} else if err != nil {
		return nil, fmt.Errorf("hosts: read %s: %w", name, err)
	}
	if len(out) == 0 {
		return nil, hint.With(fmt.Errorf("hosts: %s names none", name), "one ssh://[user@]host[:port] a line")
	}
	return out, nil
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

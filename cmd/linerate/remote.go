package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/apply"
	"linerate/internal/capture"
	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/host/bundlehost"
	"linerate/internal/host/sshhost"
)

// maxCapture bounds a capture that comes over the wire; real ones are some
// hundred kilobytes.
const maxCapture = 64 << 20

// remote holds the flags by which a verb reaches hosts over SSH.
type remote struct {
	become  string
	timeout time.Duration
	alive   time.Duration // ends a connection that is silent for so long; 0: never
	config  string
	talk    func() io.Writer
}

func (r *remote) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.become, "become", "", "over SSH, look as root by way of `sudo` or doas (without a password)")
	f.DurationVar(&r.timeout, "timeout", 2*time.Minute, "give up on a host over SSH after this long")
	f.StringVar(&r.config, "ssh-config", "", "read this `FILE` instead of ~/.ssh/config")
	r.talk = cmd.ErrOrStderr
}

// line is the command line by which somebody says a verb to a host that was
// reached so, in another shell.
func (r *remote) line(where string) func(verb string) string {
	if !isRemote(where) {
		return func(verb string) string { return becoming() + apply.Line(verb, where) }
	}
	options := ""
	if r.become != "" {
		options += " --become " + r.become
	}
	return func(verb string) string {
		return "linerate " + verb + " " + shellWord(where) + options + sshConfigOption(r.config)
	}
}

// becoming begins a command line for this machine as this one was begun.
func becoming() string {
	for _, by := range []struct{ variable, command string }{{"SUDO_USER", "sudo "}, {"DOAS_USER", "doas "}} {
		if os.Getenv(by.variable) != "" {
			return by.command
		}
	}
	return ""
}

// sshConfigOption is the option that names an ssh_config(5), in a command line for
// any directory; "" for the user's own.
func sshConfigOption(file string) string {
	if file == "" {
		return ""
	}
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	return " --ssh-config " + shellWord(file)
}

// shellWord is a word of a command line for people: in quotes where it needs them.
func shellWord(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+=,") == "" {
		return word
	}
	return host.Quote(word)
}

// dial connects to a host over SSH.
func (r *remote) dial(ctx context.Context, source string) (*sshhost.Client, error) {
	if r.become != "" && r.become != "sudo" && r.become != "doas" {
		return nil, hint.Unknown("value of --become", r.become, sshhost.Becomes)
	}
	t, err := sshhost.ParseTarget(source)
	if err != nil {
		return nil, err
	}
	o := sshhost.Options{Become: r.become, Alive: r.alive}
	if r.config != "" {
		o.Configs = []string{r.config}
	}
	c, err := sshhost.Dial(ctx, t, o)
	if err != nil {
		return nil, err
	}
	for _, n := range c.Notes() {
		fmt.Fprintf(r.talk(), "note: %s\n", n)
	}
	return c, nil
}

// bundle captures a host over SSH, in one round trip once connected.
func (r *remote) bundle(ctx context.Context, source string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.timeout, fmt.Errorf("not done in %v", r.timeout))
	defer cancel()
	c, err := r.dial(ctx, source)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	data, err := c.Run(ctx, sshhost.Script{Name: "capture", Text: capture.Script(), Args: []string{"-o", "-"}, Limit: maxCapture})
	if ctx.Err() != nil && hint.Of(err) == "" {
		err = hint.With(err, "--timeout gives a slow host longer; a capture made there by hand has all the time it wants")
	}
	return data, err
}

// open reads a host over SSH.
func (r *remote) open(ctx context.Context, source string) (host.Reader, error) {
	data, err := r.bundle(ctx, source)
	if err != nil {
		return nil, err
	}
	b, err := bundlehost.Read(bytes.NewReader(data), source)
	if err != nil {
		return nil, err
	}
	return overSSH{b}, nil
}

// overSSH is a bundle that was captured just now.
type overSSH struct{ host.Reader }

// Origin says that the facts came over the wire.
func (o overSSH) Origin() fact.Origin {
	from := o.Reader.Origin()
	from.Kind = fact.KindSSH
	return from
}

// atOnce bounds how many hosts are read at the same time.
const atOnce = 16

// read is what became of one of many hosts.
type read[T any] struct {
	source string
	got    T
	err    error
}

// readMany reads hosts side by side, and returns what became of each in the
// order given. One host's failure is its own.
func readMany[T any](cmd *cobra.Command, sources []string, one func(ctx context.Context, source string) (T, error)) []read[T] {
	ctx := cmd.Context()
	live := newLive(cmd.ErrOrStderr())
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
			got, err := one(ctx, s)
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

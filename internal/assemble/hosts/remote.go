// Package hosts reaches the hosts that users name: this machine, one over SSH, a
// capture, or a tree of files.
package hosts

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"linerate/internal/apply"
	"linerate/internal/capture"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/host/filehost"
	"linerate/internal/host/sshhost"
)

// maxCapture is the maximum size of a capture over the network, in bytes; real ones are some
// hundred kilobytes.
const maxCapture = 64 << 20

// Remote says how hosts are reached over SSH.
type Remote struct {
	Become  string        // sudo, doas or "": how to become root there
	Timeout time.Duration // for one capture, and for each script that reads or changes a host
	Alive   time.Duration // a connection that is silent for so long is closed; 0 never
	Config  string        // an ssh_config(5); "" is the user's
	Room    sshhost.Room  // for large captures; nil means no limit
	Most    int64         // bytes of a capture; 0 means maxCapture
}

// Line returns a function that gives the command line of a verb on a host reached in this way, for
// another shell.
func (r *Remote) Line(where string) func(verb string) string {
	if !IsRemote(where) {
		return func(verb string) string { return becoming() + apply.Line(verb, where) }
	}
	options := ""
	if r.Become != "" {
		options += " --become " + r.Become
	}
	return func(verb string) string {
		return "linerate " + verb + " " + host.Word(where) + options + SSHConfigOption(r.Config)
	}
}

// becoming returns the prefix (sudo, doas) of a command line for this machine, as used for this process.
func becoming() string {
	for _, by := range []struct{ variable, command string }{{"SUDO_USER", "sudo "}, {"DOAS_USER", "doas "}} {
		if os.Getenv(by.variable) != "" {
			return by.command
		}
	}
	return ""
}

// SSHConfigOption returns the option for an ssh_config(5), valid in any directory; "" for the
// user's own.
func SSHConfigOption(file string) string {
	if file == "" {
		return ""
	}
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	return " --ssh-config " + host.Word(file)
}

// Dial connects to a host over SSH.
func (r *Remote) Dial(ctx context.Context, source string) (*sshhost.Client, error) {
	if r.Become != "" && r.Become != "sudo" && r.Become != "doas" {
		return nil, hint.Unknown("value of --become", r.Become, sshhost.Becomes)
	}
	t, err := sshhost.ParseTarget(source)
	if err != nil {
		return nil, err
	}
	return sshhost.Dial(ctx, t, sshhost.Options{Become: r.Become, Alive: r.Alive, Config: r.Config})
}

// Runner returns a runner for scripts on a host over SSH; it connects on first use.
func (r *Remote) Runner(source string) *sshhost.Runner {
	return &sshhost.Runner{Name: source, Timeout: r.Timeout, Dial: func(ctx context.Context) (*sshhost.Client, error) { return r.Dial(ctx, source) }}
}

// connectPatience is the time limit of a new connection and its first answer: an emulated or loaded
// host is slow, and one that is cut off never answers.
const connectPatience = 30 * time.Second

// Fresh returns the check that a new connection to the host succeeds.
func (r *Remote) Fresh(source string) apply.Check {
	return apply.Check{Name: "a new connection to " + source, Do: func(ctx context.Context) error {
		ctx, cancel := context.WithTimeoutCause(ctx, connectPatience, fmt.Errorf("no answer in %v", connectPatience))
		defer cancel()
		run := r.Runner(source)
		defer run.Close()
		_, err := apply.On(run).Hello(ctx)
		return err
	}}
}

// Bundle captures a host over SSH, in one round trip after connecting.
func (r *Remote) Bundle(ctx context.Context, source string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.Timeout, fmt.Errorf("not done in %v", r.Timeout))
	defer cancel()
	c, err := r.Dial(ctx, source)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	data, err := c.Run(ctx, sshhost.Script{Name: "capture", Text: capture.Script(), Args: []string{"-o", "-"}, Limit: cmp.Or(r.Most, maxCapture), Room: r.Room})
	if ctx.Err() != nil && hint.Of(err) == "" {
		err = hint.With(err, "--timeout gives a slow host longer; a capture made there by hand has all the time it wants")
	}
	return data, err
}

// Open reads a host over SSH.
func (r *Remote) Open(ctx context.Context, source string) (host.Reader, error) {
	data, err := r.Bundle(ctx, source)
	if err != nil {
		return nil, err
	}
	b, err := filehost.ReadBundle(bytes.NewReader(data), source)
	if err != nil {
		return nil, err
	}
	return b.OverSSH(), nil
}

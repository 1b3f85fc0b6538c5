package sshhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"linerate/internal/host"
)

// Runner runs scripts on a host over SSH. It connects when needed: after a lost connection the next
// script reconnects.
type Runner struct {
	// Dial makes a connection.
	Dial func(ctx context.Context) (*Client, error)
	// Name is the host's name for messages.
	Name string
	// Timeout limits each script including connecting; 0 means only the context does.
	Timeout time.Duration

	mu     sync.Mutex
	client *Client
}

var _ host.Runner = (*Runner)(nil)

// Run implements host.Runner. If the context ends it closes the connection; the script may
// continue.
func (r *Runner) Run(ctx context.Context, script string, args []string, stdin []byte) ([]byte, error) {
	text, err := host.Compose(script, args, stdin)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.Timeout, fmt.Errorf("no answer in %v", r.Timeout))
		defer cancel()
	}
	if err := r.connect(ctx); err != nil {
		return nil, err
	}
	out, err := r.client.Run(ctx, Script{Name: "linerate's agent", Text: text})
	var exit *ExitError
	switch {
	case errors.As(err, &exit):
		return out, r.client.advised(exit.Said+"\n"+exit.Last, &host.ScriptError{Code: exit.Status, Stderr: verdict(exit)})
	case err != nil:
		r.drop()
		return out, err
	}
	return host.Whole(out)
}

// verdict summarises a script's error output: its last line is its own message, the first often the
// reason from a program.
func verdict(e *ExitError) string {
	if e.Last == e.Said {
		return e.Said
	}
	return e.Last + " (" + e.Said + ")"
}

// connect connects unless there is a working connection.
func (r *Runner) connect(ctx context.Context) (err error) {
	if r.client != nil && r.client.Lost() {
		r.drop()
	}
	if r.client == nil {
		if r.client, err = r.Dial(ctx); err != nil {
			r.client = nil
		}
	}
	return err
}

func (r *Runner) drop() {
	if r.client != nil {
		r.client.Close()
	}
	r.client = nil
}

// Where implements host.Runner.
func (r *Runner) Where() string { return r.Name }

// Close ends the connection.
func (r *Runner) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.client == nil {
		return nil
	}
	err := r.client.Close()
	r.client = nil
	return err
}

var _ host.Piper = (*Runner)(nil)

// Pipe implements host.Piper with a session of the connection that Run uses, reconnecting if it was
// lost. The pipe ends with the connection.
func (r *Runner) Pipe(ctx context.Context, script string, args ...string) (io.ReadWriteCloser, error) {
	if err := host.CheckPiped(script, args); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.connect(ctx); err != nil {
		return nil, err
	}
	c := r.client
	words := []string{"/bin/sh", "-c", "'" + script + "'", "linerate"}
	if c.become != "" {
		words = append([]string{c.become, "-n"}, words...)
	}
	for _, a := range args {
		words = append(words, "'"+a+"'")
	}
	return host.StartPipe(c.session(strings.Join(words, " ")), func(err error, said string) error {
		status, err := c.status(err)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", c.target, err)
		case status != 0:
			return c.advised(said, &host.ScriptError{Code: status, Stderr: said})
		}
		return nil
	})
}

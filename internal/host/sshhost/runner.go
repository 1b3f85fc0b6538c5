package sshhost

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"linerate/internal/host"
)

// Runner runs scripts on a host over SSH. It dials when it has to: a
// connection that was lost is made anew by the next script.
type Runner struct {
	// Dial makes a connection.
	Dial func(ctx context.Context) (*Client, error)
	// Name is the host for people.
	Name string
	// Timeout bounds each script, with its connection; 0: the context alone does.
	Timeout time.Duration

	mu     sync.Mutex
	client *Client
}

var _ host.Runner = (*Runner)(nil)

// Run is host.Runner's. A context that ends cuts the connection; the script
// may go on without it.
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

// verdict is what a script complained of: its last line is its own word, the
// first often a program's reason.
func verdict(e *ExitError) string {
	if e.Last == e.Said {
		return e.Said
	}
	return e.Last + " (" + e.Said + ")"
}

// connect dials unless there is a connection that answers.
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

// Where is host.Runner's.
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

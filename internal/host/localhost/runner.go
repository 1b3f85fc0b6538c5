package localhost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"linerate/internal/host"
)

// Runner runs scripts on this machine.
type Runner struct {
	// Env is added to the scripts' environment: NAME=value.
	Env []string
	// Start runs a prepared command; nil is (*exec.Cmd).Run. Tests and
	// benchmarks run it inside a network namespace.
	Start func(*exec.Cmd) error
}

var _ host.Runner = (*Runner)(nil)

// patience is how long the rest of an answer is waited for when its script has ended. A
// busy machine takes its time to hand it over; a background process that keeps the script's
// output open is cut off after the same time.
const patience = 10 * time.Second

// Run implements host.Runner. A cancelled context stops the waiting, not the script: a
// partial change is worse than a late one, and the scripts end by themselves.
func (r *Runner) Run(ctx context.Context, script string, args []string, stdin []byte) ([]byte, error) {
	text, err := host.Compose(script, args, stdin)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("/bin/sh", "-s")
	cmd.Stdin = strings.NewReader(text)
	cmd.Env = append(os.Environ(), r.Env...)
	cmd.WaitDelay = patience
	// A new session, so that the terminal's Ctrl-C reaches only this process.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	done := make(chan error, 1)
	go func() { done <- r.start(cmd) }()
	select {
	case err = <-done:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		err = &host.ScriptError{Code: exit.ExitCode(), Stderr: strings.TrimSpace(complaints.String())}
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return nil, fmt.Errorf("run /bin/sh: %w", err)
	default:
		err = nil
	}
	if out.Len() > host.MaxOutput {
		return out.Bytes()[:host.MaxOutput], host.ErrTooLarge
	}
	if err != nil {
		return out.Bytes(), err
	}
	return host.Whole(out.Bytes())
}

func (r *Runner) start(cmd *exec.Cmd) error {
	if r.Start != nil {
		return r.Start(cmd)
	}
	return cmd.Run()
}

// Where is host.Runner's.
func (r *Runner) Where() string { return "this host" }

// Close does nothing.
func (r *Runner) Close() error { return nil }

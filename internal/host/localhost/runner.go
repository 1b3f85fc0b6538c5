package localhost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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
	// Start runs a prepared command; nil means (*exec.Cmd).Run. Tests and benchmarks use it to run
	// in a network namespace.
	Start func(*exec.Cmd) error
}

var _ host.Runner = (*Runner)(nil)

// patience is how long to wait for the rest of the output after a script has ended. A busy machine
// may be slow to deliver it; a background process that keeps the output open is cut off after this
// time.
const patience = 10 * time.Second

// Run implements host.Runner. Cancelling the context stops the waiting, not the script: a partial
// change is worse than a late one, and scripts end by themselves.
func (r *Runner) Run(ctx context.Context, script string, args []string, stdin []byte) ([]byte, error) {
	text, err := host.Compose(script, args, stdin)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("/bin/sh", "-s")
	cmd.Stdin = strings.NewReader(text)
	cmd.Env = append(os.Environ(), r.Env...)
	cmd.WaitDelay = patience
	// A new session, so that Ctrl-C on the terminal reaches only this process.
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

// Where implements host.Runner.
func (r *Runner) Where() string { return "this host" }

// Close does nothing.
func (r *Runner) Close() error { return nil }

var _ host.Piper = (*Runner)(nil)

// Pipe implements host.Piper.
func (r *Runner) Pipe(_ context.Context, script string, args ...string) (io.ReadWriteCloser, error) {
	if err := host.CheckPiped(script, args); err != nil {
		return nil, err
	}
	cmd := exec.Command("/bin/sh", append([]string{"-c", script, "linerate"}, args...)...)
	cmd.Env = append(os.Environ(), r.Env...)
	return host.StartPipe(cmd, func(err error, said string) error {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return &host.ScriptError{Code: exit.ExitCode(), Stderr: said}
		}
		return err
	})
}

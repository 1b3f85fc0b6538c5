package localhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"linerate/internal/host"
)

var _ host.Piper = (*Runner)(nil)

// Pipe is host.Piper's.
func (r *Runner) Pipe(_ context.Context, script string, args ...string) (io.ReadWriteCloser, error) {
	if err := host.CheckPiped(script, args); err != nil {
		return nil, err
	}
	cmd := exec.Command("/bin/sh", append([]string{"-c", script, "linerate"}, args...)...)
	cmd.Env = append(os.Environ(), r.Env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	said := &host.FirstBytes{Limit: maxSaid}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("run /bin/sh: %w", err)
	}
	wait := func() error {
		err := cmd.Wait()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return &host.ScriptError{Code: exit.ExitCode(), Stderr: said.String()}
		}
		return err
	}
	return &host.Pipe{In: in, Out: out, Wait: wait, End: func() { _ = cmd.Process.Kill() }}, nil // one that has ended is not there
}

// maxSaid is how much of a program's complaints is kept, in bytes.
const maxSaid = 4096

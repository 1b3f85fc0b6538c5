package localhost

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"

	"linerate/internal/host"
)

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

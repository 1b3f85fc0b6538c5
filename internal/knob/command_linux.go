package knob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"

	"linerate/internal/setting"
)

// command runs an argument vector inside the namespace; no shell is involved.
func (t *Target) command(ctx context.Context, s setting.Setting) error {
	if len(s.Argv) == 0 {
		return errors.New("a command setting has no arguments")
	}
	path, err := exec.LookPath(s.Argv[0])
	if err != nil {
		return helped(unavailable(s, "%s is not installed", s.Argv[0]), "install it")
	}
	var out bytes.Buffer
	err = t.InSys(func() error {
		cmd := exec.CommandContext(ctx, path, s.Argv[1:]...)
		cmd.Stdout, cmd.Stderr = &out, &out
		return cmd.Run()
	})
	if err != nil {
		return fmt.Errorf("%v failed: %w: %s", s.Argv, err, bytes.TrimSpace(out.Bytes()))
	}
	return nil
}

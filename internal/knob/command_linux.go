package knob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"linerate/internal/port"
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
	if said, err := execute(ctx, t.InSys, "", path, s.Argv[1:]...); err != nil {
		return fmt.Errorf("%v failed: %w: %s", s.Argv, err, said)
	}
	return nil
}

// execute runs a program in a place with an input, and returns its output.
func execute(ctx context.Context, in port.Place, input, path string, args ...string) (said string, err error) {
	var out bytes.Buffer
	err = in(func() error {
		cmd := exec.CommandContext(ctx, path, args...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &out
		return cmd.Run()
	})
	return strings.TrimSpace(out.String()), err
}

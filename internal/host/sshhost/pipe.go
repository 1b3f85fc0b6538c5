package sshhost

import (
	"context"
	"fmt"
	"io"
	"strings"

	"linerate/internal/host"
)

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

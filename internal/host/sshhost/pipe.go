package sshhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/crypto/ssh"

	"linerate/internal/host"
)

var _ host.Piper = (*Runner)(nil)

// Pipe is host.Piper's: a session of the connection that Run uses, made anew if
// it was lost. The pipe ends with the connection.
func (r *Runner) Pipe(ctx context.Context, script string, args ...string) (io.ReadWriteCloser, error) {
	if err := host.CheckPiped(script, args); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.connect(ctx); err != nil {
		return nil, err
	}
	p, err := r.client.pipe(script, args)
	if err != nil {
		r.drop()
	}
	return p, err
}

func (c *Client) pipe(script string, args []string) (io.ReadWriteCloser, error) {
	session, err := c.conn.NewSession()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.target, lost(err))
	}
	said := &host.FirstBytes{Limit: maxSaid}
	session.Stderr = said
	p := &host.Pipe{Wait: func() error { return c.ended(session.Wait(), said) }, End: func() {
		_ = session.Signal(ssh.SIGKILL) // one that outlives its input, and its connection
		_ = session.Close()
	}}
	if p.In, err = session.StdinPipe(); err == nil {
		p.Out, err = session.StdoutPipe()
	}
	words := []string{"/bin/sh", "-c", "'" + script + "'", "linerate"}
	if c.become != "" {
		words = append([]string{c.become, "-n"}, words...)
	}
	for _, a := range args {
		words = append(words, "'"+a+"'")
	}
	if err == nil {
		err = session.Start(strings.Join(words, " "))
	}
	if err != nil {
		session.Close()
		return nil, fmt.Errorf("%s: %w", c.target, lost(err))
	}
	return p, nil
}

// ended is why a program failed.
func (c *Client) ended(err error, said *host.FirstBytes) error {
	var exit *ssh.ExitError
	switch {
	case errors.As(err, &exit):
		return c.advised(said.String(), &host.ScriptError{Code: exit.ExitStatus(), Stderr: said.String()})
	case err != nil:
		return fmt.Errorf("%s: %w", c.target, lost(err))
	}
	return nil
}

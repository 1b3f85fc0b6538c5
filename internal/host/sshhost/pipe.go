package sshhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

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
	p := &pipe{client: c, session: session, said: &firstBytes{limit: 4096}, ended: make(chan struct{})}
	session.Stderr = p.said
	if p.in, err = session.StdinPipe(); err == nil {
		p.out, err = session.StdoutPipe()
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

// pipe is a program of the host that is talked to.
type pipe struct {
	client  *Client
	session *ssh.Session
	in      io.WriteCloser
	out     io.Reader
	said    *firstBytes
	once    sync.Once
	ended   chan struct{}
	err     error
}

// Read reads what it prints; at its end, why it failed.
func (p *pipe) Read(b []byte) (int, error) {
	n, err := p.out.Read(b)
	if errors.Is(err, io.EOF) {
		if p.wait(); p.err != nil {
			return n, p.err
		}
	}
	return n, err
}

// Write is read by the program.
func (p *pipe) Write(b []byte) (int, error) { return p.in.Write(b) }

func (p *pipe) wait() {
	p.once.Do(func() {
		err := p.session.Wait()
		var exit *ssh.ExitError
		switch {
		case errors.As(err, &exit):
			p.err = &host.ScriptError{Code: exit.ExitStatus(), Stderr: strings.TrimSpace(p.said.String())}
		case err != nil:
			p.err = fmt.Errorf("%s: %w", p.client.target, lost(err))
		}
		close(p.ended)
	})
	<-p.ended
}

// Close ends the program.
func (p *pipe) Close() error {
	_ = p.in.Close()
	go p.wait()
	select {
	case <-p.ended:
	case <-time.After(3 * time.Second):
	}
	_ = p.session.Close()
	return nil
}

package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Piper runs a program on a machine and talks to it while it runs.
type Piper interface {
	// Pipe runs `/bin/sh -c script linerate args…` there, as root where the
	// connection says so, and returns its standard input and output. The
	// script and args are single lines without single quotes or
	// exclamation marks (CheckPiped). Close ends the input, waits a
	// moment for the program to end, and then ends it; sshd(8) does not let
	// root end one that minds neither its input nor SIGPIPE. A program that fails
	// is an error of the read that finds its output over.
	Pipe(ctx context.Context, script string, args ...string) (io.ReadWriteCloser, error)
}

// CheckPiped refuses what some login shell would read otherwise than another:
// csh has history in single quotes, and ends them at a newline.
func CheckPiped(script string, args []string) error {
	for _, a := range append([]string{script}, args...) {
		if strings.ContainsAny(a, "'!\n\r\x00") {
			return fmt.Errorf("%.60q is not one line that every login shell leaves alone", a)
		}
	}
	return nil
}

// maxSaid is how much of a program's complaints is kept, in bytes.
const maxSaid = 4096

// StartPipe starts a command that is talked to; ended says what its end and its complaints mean.
func StartPipe(cmd *exec.Cmd, ended func(err error, said string) error) (*Pipe, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	said := &FirstBytes{Limit: maxSaid}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("run %s: %w", cmd.Path, err)
	}
	// A program that has ended is not there to be killed.
	return &Pipe{In: in, Out: out, Wait: func() error { return ended(cmd.Wait(), said.String()) }, End: func() { _ = cmd.Process.Kill() }}, nil
}

// Pipe is a program that is talked to, for those who implement Piper.
type Pipe struct {
	In  io.WriteCloser
	Out io.Reader
	// Wait waits for the program to end, once, and says why it failed: with a
	// ScriptError where it ended by itself.
	Wait func() error
	// End ends a program that does not, and frees what it held.
	End func()

	once  sync.Once
	ended chan struct{}
	err   error
}

// patience is how long a program may take to end after its input has.
const patience = 3 * time.Second

// Read reads what the program prints; at its end, why it failed.
func (p *Pipe) Read(b []byte) (int, error) {
	n, err := p.Out.Read(b)
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
		<-p.wait()
		if p.err != nil {
			return n, p.err
		}
	}
	return n, err
}

// Write is read by the program.
func (p *Pipe) Write(b []byte) (int, error) { return p.In.Write(b) }

// wait is closed when the program has ended.
func (p *Pipe) wait() <-chan struct{} {
	p.once.Do(func() {
		p.ended = make(chan struct{})
		go func() {
			defer close(p.ended)
			p.err = p.Wait()
		}()
	})
	return p.ended
}

// Close ends the input, waits a moment for the program, and ends it.
func (p *Pipe) Close() error {
	_ = p.In.Close()
	select {
	case <-p.wait():
	case <-time.After(patience):
	}
	p.End()
	return nil
}

// FirstBytes keeps the first Limit bytes written and drops the rest: what a
// program complains of.
type FirstBytes struct {
	Limit int
	kept  []byte
}

// Write implements io.Writer; it takes everything.
func (b *FirstBytes) Write(p []byte) (int, error) {
	if room := b.Limit - len(b.kept); room > 0 {
		b.kept = append(b.kept, p[:min(len(p), room)]...)
	}
	return len(p), nil
}

// String is what was kept, without the space around it.
func (b *FirstBytes) String() string { return strings.TrimSpace(string(b.kept)) }

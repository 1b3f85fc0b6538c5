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

// Piper runs a program on a machine and communicates with it.
type Piper interface {
	// Pipe runs `/bin/sh -c script linerate args…` there, as root if the connection is set up so,
	// and returns its standard input and output. The script and args must be single lines without
	// single quotes or exclamation marks (CheckPiped). Close ends the input, waits a moment for the
	// program to end, and then kills it; over sshd(8) root cannot kill one that ignores both the
	// end of its input and SIGPIPE. If the program fails, the read at the end of its output returns
	// the error.
	Pipe(ctx context.Context, script string, args ...string) (io.ReadWriteCloser, error)
}

// CheckPiped rejects what login shells interpret differently: csh expands history in single quotes,
// and ends them at a newline.
func CheckPiped(script string, args []string) error {
	for _, a := range append([]string{script}, args...) {
		if strings.ContainsAny(a, "'!\n\r\x00") {
			return fmt.Errorf("%.60q is not one line that every login shell leaves alone", a)
		}
	}
	return nil
}

// maxSaid is how many bytes of a program's standard error are kept.
const maxSaid = 4096

// StartPipe starts a command for communication; ended turns its exit and its standard error into an error.
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
	// A program that has ended cannot be killed.
	return &Pipe{In: in, Out: out, Wait: func() error { return ended(cmd.Wait(), said.String()) }, End: func() { _ = cmd.Process.Kill() }}, nil
}

// Pipe is a running program, for implementations of Piper.
type Pipe struct {
	In  io.WriteCloser
	Out io.Reader
	// Wait is called once; it waits for the program to end and returns why it failed: a ScriptError
	// if it exited by itself.
	Wait func() error
	// End kills a program that does not end, and releases its resources.
	End func()

	once  sync.Once
	ended chan struct{}
	err   error
}

// patience is how long a program may take to end after its input has ended.
const patience = 3 * time.Second

// Read reads the program's output; at its end it returns why the program failed, if it did.
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

// Write writes to the program's input.
func (p *Pipe) Write(b []byte) (int, error) { return p.In.Write(b) }

// wait returns a channel that is closed when the program has ended.
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

// Close ends the input, waits a moment for the program, and kills it.
func (p *Pipe) Close() error {
	_ = p.In.Close()
	select {
	case <-p.wait():
	case <-time.After(patience):
	}
	p.End()
	return nil
}

// FirstBytes keeps the first Limit bytes that a program writes and drops the rest, so that a full
// pipe never blocks it.
type FirstBytes struct {
	Limit int
	Cut   bool // something was dropped
	kept  []byte
}

// Write implements io.Writer; it accepts everything.
func (b *FirstBytes) Write(p []byte) (int, error) {
	room := b.Limit - len(b.kept)
	b.Cut = b.Cut || len(p) > room
	b.kept = append(b.kept, p[:min(len(p), room)]...)
	return len(p), nil
}

// Bytes returns the kept bytes.
func (b *FirstBytes) Bytes() []byte { return b.kept }

// String returns the kept bytes, trimmed.
func (b *FirstBytes) String() string { return strings.TrimSpace(string(b.kept)) }

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
	"sync"
	"time"

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
	p := &pipe{cmd: cmd, in: in, out: out, ended: make(chan struct{})}
	cmd.Stderr = &p.said
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("run /bin/sh: %w", err)
	}
	return p, nil
}

// pipe is a program of this machine that is talked to.
type pipe struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   io.Reader
	said  bytes.Buffer
	once  sync.Once
	ended chan struct{}
	err   error
}

// Read reads what it prints; at its end, why it failed.
func (p *pipe) Read(b []byte) (int, error) {
	n, err := p.out.Read(b)
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
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
		err := p.cmd.Wait()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = &host.ScriptError{Code: exit.ExitCode(), Stderr: strings.TrimSpace(p.said.String())}
		}
		p.err = err
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
		_ = p.cmd.Process.Kill()
	}
	return nil
}

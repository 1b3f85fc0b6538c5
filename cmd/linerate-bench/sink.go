package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"linerate/internal/wait"

	"linerate/internal/cli"
	"linerate/internal/hint"
)

// sink is a smtp-sink(1) of this command's own, on loopback: it takes messages,
// throws them away, and counts them in the file count.
type sink struct {
	path, dir, at string
	cmd           *exec.Cmd
}

// findSink finds the program, which is not on everybody's PATH.
func findSink() (string, error) {
	for _, name := range []string{"smtp-sink", "/usr/sbin/smtp-sink", "/usr/local/sbin/smtp-sink"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", hint.With(errors.New("smtp-sink is not installed"), "it comes with the package postfix (Debian and FreeBSD)")
}

// start begins a sink that has counted nothing.
func (s *sink) start(ctx context.Context) (err error) {
	if s.at, err = freeAddress(); err != nil {
		return err
	}
	args := []string{"-c", s.at, "1024"}
	if os.Geteuid() == 0 {
		args = append([]string{"-u", "nobody"}, args...) // it refuses to be root
	}
	out, err := os.Create(filepath.Join(s.dir, "count"))
	if err != nil {
		return err
	}
	defer out.Close() // the sink has its own
	s.cmd = exec.CommandContext(ctx, s.path, args...)
	s.cmd.Stdout = out
	cli.EndsWithUs(s.cmd)
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", s.path, err)
	}
	for range 100 {
		if c, err := net.Dial("tcp", s.at); err == nil {
			return c.Close()
		}
		if wait.For(ctx, 50*time.Millisecond) != nil {
			return errors.Join(ctx.Err(), s.stop())
		}
	}
	return errors.Join(errors.New("smtp-sink does not listen after five seconds"), s.stop())
}

// stop ends the sink.
func (s *sink) stop() error {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	err := s.cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil // it was signalled to
	}
	return err
}

// sinkCounts is one of the counts that it writes over each other.
var sinkCounts = regexp.MustCompile(`sess=\d+ quit=\d+ mesg=(\d+)`)

// taken is how many messages it took.
func (s *sink) taken() (float64, error) {
	text, err := os.ReadFile(filepath.Join(s.dir, "count"))
	if err != nil {
		return 0, err
	}
	return lastCount(text)
}

func lastCount(text []byte) (float64, error) {
	last := text[max(0, bytes.LastIndex(text, []byte("sess="))):]
	m := sinkCounts.FindSubmatch(last)
	if m == nil {
		return 0, fmt.Errorf("smtp-sink counted %.100q", last)
	}
	return parsed(m[1]), nil
}

package sshhost

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/show"
)

// maxNoise is the maximum output of a login shell before a script begins, in bytes.
const maxNoise = 64 << 10

// Script is a POSIX sh script to run on a host. Its text is constant: variable parts are quoted by
// Quote, or arguments.
type Script struct {
	Name string   // for messages
	Text string   // reads nothing from standard input
	Args []string // plain words: letters, digits and ._/=:,+-
	// Limit is the maximum output in bytes; 0 means host.MaxOutput.
	Limit int64
	// Room, if set, limits the number of concurrent large outputs: when an output reaches
	// LargeOutput bytes, reading waits for a place. A caller that gets such an output without an
	// error must call Leave when done with it.
	Room Room
}

// LargeOutput is the size from which an output is large, in bytes; a capture has tens of kilobytes.
const LargeOutput = 1 << 20

// Room is a semaphore with as many places as its capacity.
type Room chan struct{}

// enter waits for a place.
func (r Room) enter(ctx context.Context) error {
	if r == nil {
		return nil
	}
	select {
	case r <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Leave releases the place of an output of the given size, if it had one.
func (r Room) Leave(size int) {
	if r != nil && size >= LargeOutput {
		<-r
	}
}

// ExitError is a script's non-zero exit.
type ExitError struct {
	Name   string
	Status int
	Said   string // the first line it wrote to standard error
	Last   string // and the last
}

func (e *ExitError) Error() string {
	said := e.Said
	said = cmp.Or(said, "it said nothing")
	return fmt.Sprintf("%s ended with status %d: %s", e.Name, e.Status, said)
}

// Run runs a script and returns its output. It sends a command line that is the same for all
// scripts and that every login shell understands. The script comes on standard input as one
// compound command, so that a connection cut in the middle runs nothing; Run skips what the login
// shell prints before it. The output is complete unless an error is returned.
func (c *Client) Run(ctx context.Context, s Script) ([]byte, error) {
	line, err := c.commandLine(s)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	out, err := c.run(ctx, line, s)
	if err != nil || ctx.Err() != nil {
		s.Room.Leave(len(out))
	}
	if ctx.Err() != nil {
		return out, fmt.Errorf("%s on %s: %w", s.Name, c.target, context.Cause(ctx))
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", c.target, err)
	}
	return out, err
}

func (c *Client) commandLine(s Script) (string, error) {
	words := []string{"/bin/sh", "-s"}
	switch c.become {
	case "":
	case "sudo", "doas":
		words = append([]string{c.become, "-n"}, words...)
	default:
		return "", hint.Unknown("way to become root", c.become, Becomes)
	}
	if len(s.Args) > 0 {
		words = append(words, "--")
	}
	for _, a := range s.Args {
		if a == "" || strings.Trim(a, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/=:,+-") != "" {
			return "", fmt.Errorf("%s: argument %q is not a plain word", s.Name, a)
		}
		words = append(words, a)
	}
	return strings.Join(words, " "), nil
}

func (c *Client) run(ctx context.Context, line string, s Script) ([]byte, error) {
	var nonce [12]byte
	if _, err := rand.Read(nonce[:]); err != nil {
		return nil, err
	}
	mark := "linerate-" + hex.EncodeToString(nonce[:])
	complaint := &host.FirstBytes{Limit: maxSaid}
	session := c.session(line)
	// The empty line terminates an unfinished line of the login shell (printf in a .cshrc).
	session.Stdin = strings.NewReader("{\necho; echo " + mark + "\n" + s.Text + "\n} </dev/null\n")
	session.Stderr = complaint
	stdout, err := session.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := session.Start(); err != nil {
		return nil, fmt.Errorf("%s: run ssh: %w", s.Name, err)
	}
	limit := cmp.Or(s.Limit, host.MaxOutput)
	out, err := readAfter(stdout, mark, func(r io.Reader) ([]byte, error) { return s.Room.read(ctx, r, limit) })
	if errors.Is(err, host.ErrTooLarge) || errors.Is(err, errNoise) {
		_ = session.Process.Kill()
		_ = session.Wait() // it was killed
		return out, fmt.Errorf("%s: %w", s.Name, err)
	}
	status, ended := c.status(session.Wait())
	switch {
	case ended != nil:
		return out, fmt.Errorf("%s: %w", s.Name, ended)
	case status != 0:
		return out, c.explain(s.Name, status, complaint.String())
	}
	return out, err
}

// errNoise and errNoMark mean that a script's output could not be separated from the login shell's.
var (
	errNoise  = fmt.Errorf("its login shell prints more than %d bytes before a script can begin", maxNoise)
	errNoMark = errors.New("the script did not begin; is /bin/sh a POSIX shell there?")
)

// read reads up to limit bytes, and takes a place if the output is large.
func (r Room) read(ctx context.Context, from io.Reader, limit int64) ([]byte, error) {
	if r == nil || limit <= LargeOutput {
		return host.ReadBounded(from, limit)
	}
	head, err := io.ReadAll(io.LimitReader(from, LargeOutput))
	if err != nil || len(head) < LargeOutput {
		return head, err
	}
	if err := r.enter(ctx); err != nil {
		return nil, err
	}
	tail, err := host.ReadBounded(from, limit-LargeOutput)
	return append(head, tail...), err
}

// readAfter skips everything up to the line mark, then reads the rest.
func readAfter(r io.Reader, mark string, rest func(io.Reader) ([]byte, error)) ([]byte, error) {
	buffered := bufio.NewReaderSize(r, 32<<10)
	for passed := 0; ; {
		line, err := buffered.ReadSlice('\n')
		if bytes.Equal(bytes.TrimRight(line, "\r\n"), []byte(mark)) {
			return rest(buffered)
		}
		if passed += len(line); passed > maxNoise {
			return nil, errNoise
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, errNoMark
		}
	}
}

// explain returns the error for a script's exit.
func (c *Client) explain(name string, status int, said string) error {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	said, last := show.Clean(lines[0]), show.Clean(lines[len(lines)-1])
	return c.advised(said+"\n"+last, &ExitError{Name: name, Status: status, Said: said, Last: last})
}

// advised adds a hint if the user cannot become root on the host.
func (c *Client) advised(said string, err error) error {
	switch refusal := refusedBy(c.become, said); {
	case refusal == "":
		return err
	case strings.Contains(refusal, "not found"):
		return hint.With(err, "install %s there, or log in as root", c.become)
	case c.become == "doas":
		return hint.With(err, "doas must let the user run /bin/sh without a password, by a line of doas.conf(5): permit nopass USER cmd /bin/sh")
	}
	return hint.With(err, "sudo must let the user run /bin/sh without a password, by a line of sudoers(5): USER ALL=(root) NOPASSWD: /bin/sh")
}

// refusedBy returns the line in which sudo or doas refuses to run a script. "unable to resolve
// host" is not a refusal: sudo continues.
func refusedBy(become, said string) string {
	for line := range strings.Lines(said) {
		if become != "" && strings.Contains(line, become+":") && !strings.Contains(line, "unable to resolve host") {
			return line
		}
	}
	return ""
}

// maxSaid is how many bytes of a script's standard error are kept.
const maxSaid = 4096

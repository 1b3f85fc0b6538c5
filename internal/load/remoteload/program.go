package remoteload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"linerate/internal/hint"
	"linerate/internal/host"
)

// feed reads a script of $1 bytes from standard input and runs it; the rest
// of standard input is the script's.
const feed = `PATH=$PATH:/sbin:/usr/sbin:/usr/local/bin:/usr/local/sbin; s=$(head -c $1) && eval "$s"`

// runFor runs a command ($2 …) for at most $1 seconds. It interrupts the
// command at the time limit, or at a line or EOF on standard input, which
// stays open as long as the controller is alive. A command that ignores SIGINT
// for five seconds is killed: pkt-gen checks once a second, in each of its
// threads. An interrupted command counts as successful.
const runFor = `
limit=$1 && shift
d=$(mktemp -d /tmp/linerate.XXXXXXXX) || exit 1
trap 'rm -rf "$d"' EXIT
exec 3<&0
{
	timeout "$limit" head -n 1 <&3 >/dev/null
	p=$(cat "$d/pid") && : >"$d/over" && for s in INT TERM KILL; do
		kill -s $s "$p" || break
		for _ in 1 2 3 4 5; do kill -0 "$p" || break 2; sleep 1; done
	done
} >/dev/null 2>&1 3<&3 &
k=$!
# Standard error carries accounts too.
/bin/sh -c 'echo $$ >"$0/pid"; exec "$@"' "$d" "$@" </dev/null 2>&1 3<&-
code=$?
over=no && [ ! -e "$d/over" ] || over=yes
kill "$k" 2>/dev/null
[ $over = no ] || exit 0
exit $code
`

// maxOutput bounds how much of a program's output is read: an account has one line per second.
const maxOutput = 4 << 20

// patience is how long a program may overrun its time.
const patience = 20 * time.Second

// program is a running program.
type program struct {
	name  string
	pipe  io.ReadWriteCloser
	stop  func() bool
	mu    sync.Mutex
	text  bytes.Buffer
	ended chan struct{}
	err   error
	news  chan struct{}
}

// start runs a command on a host for at most a time, or until ctx is done.
func start(ctx context.Context, h host.Piper, argv []string, limit time.Duration) (*program, error) {
	script := "set -- " + strconv.FormatFloat(limit.Seconds(), 'f', 3, 64)
	for _, a := range argv {
		script += " " + host.Quote(a)
	}
	script += runFor
	pipe, err := h.Pipe(ctx, feed, strconv.Itoa(len(script)))
	if err != nil {
		return nil, err
	}
	p := &program{name: argv[0], pipe: pipe, ended: make(chan struct{}), news: make(chan struct{}, 1)}
	p.stop = context.AfterFunc(ctx, func() { pipe.Close() })
	if _, err := io.WriteString(pipe, script); err != nil {
		p.stop()
		return nil, errors.Join(fmt.Errorf("run %s: %w", argv[0], err), pipe.Close())
	}
	go p.read()
	return p, nil
}

func (p *program) read() {
	defer close(p.ended)
	buf := make([]byte, 32<<10)
	for {
		n, err := p.pipe.Read(buf)
		p.mu.Lock()
		if p.text.Len()+n <= maxOutput {
			p.text.Write(buf[:n])
		} else if p.err == nil {
			p.err = fmt.Errorf("it prints more than %d bytes", maxOutput)
		}
		if err != nil && !errors.Is(err, io.EOF) && p.err == nil {
			p.err = err
		}
		p.mu.Unlock()
		select {
		case p.news <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (p *program) output() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String(), p.err
}

// await returns when the program has printed a word; it fails if the program
// ends first.
func (p *program) await(ctx context.Context, word string) error {
	for {
		text, _ := p.output()
		if strings.Contains(text, word) {
			return nil
		}
		select {
		case <-p.news:
		case <-p.ended:
			if text, _ := p.output(); strings.Contains(text, word) {
				return nil // it ended quickly: end reports its result
			}
			_, err := p.end()
			return errors.Join(err, fmt.Errorf("%s ended before it started", p.name))
		case <-ctx.Done():
			return fmt.Errorf("no %[2]q from %[1]s: %[3]w", p.name, word, ctx.Err())
		}
	}
}

func (p *program) interrupt() {
	_, _ = p.pipe.Write([]byte("\n")) // harmless if the program has already ended
}

// end waits for the program and returns its output.
func (p *program) end() (string, error) {
	<-p.ended
	p.stop()
	closed := p.pipe.Close()
	text, err := p.output()
	var said *host.ScriptError
	switch {
	case errors.As(err, &said) && said.Code == 127:
		err = hint.With(fmt.Errorf("there is no program %s", p.name), "install it there, or name another under traffic: of the testbed's file")
	case errors.As(err, &said):
		err = fmt.Errorf("%s failed with status %d: %s", p.name, said.Code, lastLine(text))
	case err != nil:
		err = fmt.Errorf("%s: %w", p.name, err)
	}
	return text, errors.Join(err, closed)
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return fmt.Sprintf("%.200s", lines[len(lines)-1])
}

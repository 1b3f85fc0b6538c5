package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/cputime"
)

// Process is a running server, with all processes it has started.
type Process struct {
	cmd   *exec.Cmd
	name  string
	ended chan struct{}
	err   error // exit error
	space string
}

// grace is how long a server may take to end by itself.
const grace = 2 * time.Second

// Start starts a program and waits until it is ready. It is the first process of a PID namespace:
// when it ends, the kernel ends all others there; and it ends when the Box's thread does, which is
// when linerate does.
func (b *Box) Start(ctx context.Context, p Program) (*Process, error) {
	path, err := p.find()
	if err != nil {
		return nil, missing(err)
	}
	out := &tail{}
	argv := append([]string{path}, p.Argv...)
	if p.Parented {
		argv = append([]string{"/bin/sh", "-c", parent, "sh"}, argv...)
	}
	run := &Process{name: filepath.Base(p.Name), ended: make(chan struct{}), cmd: exec.Command(argv[0], argv[1:]...)}
	run.cmd.Dir, run.cmd.Stdout, run.cmd.Stderr = Root, out, out
	run.cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "TZ=UTC"}
	run.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID, Pdeathsig: unix.SIGKILL, Setsid: true}
	if err := b.Do(run.cmd.Start); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	run.space, _ = os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", run.cmd.Process.Pid))
	go func() {
		run.err = run.cmd.Wait()
		close(run.ended)
	}()
	b.mu.Lock()
	b.running = append(b.running, run)
	b.mu.Unlock()
	if err := b.await(ctx, run, p); err != nil {
		run.Stop()
		return nil, b.blame(err, run, p, out)
	}
	run.precede()
	return run, nil
}

// parent is the script of a first process that ends a program when asked to, and ends with it. The
// program leads a process group if setsid(1) exists: Postfix's master, told to end, signals its
// group, and without one waits a second to complain.
const parent = `command -v setsid >/dev/null && set -- setsid "$@"; "$@" & trap 'kill $!' TERM; wait $!; s=$?; kill -0 $! 2>/dev/null && { wait $!; s=$?; }; exit $s`

// errNotReady wraps the error of the last try.
var errNotReady = errors.New("it is not ready")

func (b *Box) await(ctx context.Context, run *Process, p Program) error {
	if p.Ready == nil {
		return nil
	}
	const patience = time.Minute
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var last error
	for {
		if last = b.Do(p.Ready); last == nil {
			return nil
		}
		select {
		case <-run.ended:
			return errEnded
		case <-ctx.Done():
			return fmt.Errorf("%w after %v: %w", errNotReady, patience, last)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

var errEnded = errors.New("it ended")

// blame adds the program's own output to an error.
func (b *Box) blame(err error, run *Process, p Program, out *tail) error {
	said := out.String()
	if p.Log != "" {
		if log, err := b.Read(p.Log); err == nil {
			said += string(log)
		}
	}
	said = string(bytes.TrimSpace([]byte(said)))
	if len(said) > maxSaid {
		said = said[len(said)-maxSaid:]
	}
	if errors.Is(err, errEnded) {
		return ended(p.Name, run.err, said)
	}
	if said != "" {
		return fmt.Errorf("start %s: %w: %s", p.Name, err, said)
	}
	return fmt.Errorf("start %s: %w", p.Name, err)
}

// maxSaid is how much of a log is quoted in an error.
const maxSaid = 600

// Stop ends the server and everything it started, gently at first. It returns when nothing is left.
func (p *Process) Stop() {
	_ = p.cmd.Process.Signal(unix.SIGTERM) // it may have ended
	select {
	case <-p.ended:
		return
	case <-time.After(grace):
	}
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// Running returns nil while the server runs, then an error that describes how it ended.
func (p *Process) Running() error {
	select {
	case <-p.ended:
		return ended(p.name, p.err, "")
	default:
		return nil
	}
}

// CPU returns the CPU time of the server's processes, including ended ones: Postfix's processes end
// after a hundred clients.
func (p *Process) CPU() time.Duration {
	var sum time.Duration
	for _, pid := range p.PIDs() {
		sum += reaped(pid)
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*", pid))
		for _, t := range threads {
			if id, err := strconv.Atoi(filepath.Base(t)); err == nil {
				sum += cputime.Thread(id).Ran
			}
		}
	}
	return sum
}

// clockTick is the unit of times in proc(5)'s stat: Linux reports 100 per second to programs on all
// machines that linerate supports.
const clockTick = 10 * time.Millisecond

// reaped returns the CPU time of a process's ended children (cutime and cstime).
func reaped(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name, in parentheses, may contain blanks; cutime is the 14th field after it.
	f := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(f) < 15 {
		return 0
	}
	user, err1 := strconv.ParseInt(string(f[13]), 10, 64)
	system, err2 := strconv.ParseInt(string(f[14]), 10, 64)
	if err1 != nil || err2 != nil {
		return 0
	}
	return time.Duration(user+system) * clockTick
}

// precede gives the server's sessions linerate's priority where the kernel shares time by sessions
// (sched(7), autogroup): a testbed with priority over other programs consists of clients and
// servers.
func (p *Process) precede() {
	own, ok := cputime.SessionNice("self")
	if !ok {
		return
	}
	for _, pid := range p.PIDs() {
		if nice, ok := cputime.SessionNice(strconv.Itoa(pid)); ok && nice != own {
			_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/autogroup", []byte(strconv.Itoa(own)), 0) // without privileges it stays
		}
	}
}

// PIDs returns all processes in the server's PID namespace, by the PIDs of the machine.
func (p *Process) PIDs() (pids []int) {
	if p.space == "" || p.Running() != nil {
		return nil
	}
	all, _ := filepath.Glob("/proc/[0-9]*/ns/pid")
	for _, path := range all {
		if space, err := os.Readlink(path); err == nil && space == p.space {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path)))); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// tail keeps the end of what is written to it. Only exec's copying goroutine writes; it is read
// after that has ended.
type tail struct{ data []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if over := len(t.data) - 4*maxSaid; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.data) }

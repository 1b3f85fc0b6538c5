// Package localhost reads the machine that linerate runs on.
package localhost

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"linerate/internal/fact"
	"linerate/internal/host"
)

// Host is a host.Reader over this machine.
type Host struct{}

// New returns the reader of this machine.
func New() *Host { return &Host{} }

// Origin implements host.Reader.
func (*Host) Origin() fact.Origin { return fact.Origin{Kind: fact.KindHost} }

// OS implements host.Reader.
func (*Host) OS() string {
	switch runtime.GOOS {
	case fact.FreeBSD, fact.Linux:
		return runtime.GOOS
	}
	return ""
}

// ReadFile implements host.Reader. It opens only regular files: a FIFO would block, and reading a
// device can have side effects.
func (*Host) ReadFile(_ context.Context, path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, host.Bare(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, host.Bare(err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("not a regular file (%s)", info.Mode().Type())
	}
	b, err := host.ReadBounded(f, host.MaxFile)
	return b, host.Bare(err)
}

// Mode implements host.Moded.
func (*Host) Mode(path string) (os.FileMode, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Mode(), nil
}

// ReadDir implements host.Reader.
func (*Host) ReadDir(_ context.Context, path string) ([]string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO would block
	if err != nil {
		return nil, host.Bare(err)
	}
	defer f.Close()
	names, err := f.Readdirnames(host.MaxNames + 1)
	if err != nil && len(names) == 0 {
		if info, serr := f.Stat(); serr == nil && !info.IsDir() {
			return nil, errors.New("not a directory")
		}
		return nil, nil
	}
	return host.BoundNames(names)
}

// path lists the directories of base system commands; the caller's PATH is ignored, so that results
// are the same under sudo and cron.
const path = "/sbin:/bin:/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin"

// Output implements host.Reader.
func (*Host) Output(ctx context.Context, q host.Query) ([]byte, error) {
	argv := q.Argv()
	command, err := look(argv[0])
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, command, argv[1:]...)
	cmd.Env = []string{"PATH=" + path, "LC_ALL=C", "HOME=/"}
	out, complaint := &host.FirstBytes{Limit: host.MaxOutput}, &host.FirstBytes{Limit: 4096}
	cmd.Stderr = complaint
	err = outputOf(cmd, out, patience)
	if text, _, _ := strings.Cut(complaint.String(), "\n"); err != nil && text != "" {
		err = fmt.Errorf("%s (%w)", text, err)
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("stopped: %w", context.Cause(ctx))
	}
	if err == nil && out.Cut {
		err = fmt.Errorf("%w of %d bytes", host.ErrTooLarge, host.MaxOutput)
	}
	return out.Bytes(), err
}

// look finds a command in the directories of base systems.
func look(name string) (string, error) {
	for _, dir := range strings.Split(path, ":") {
		p := filepath.Join(dir, name)
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return p, nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, host.ErrNoCommand)
}

// pauseToFill is the pause between two reads of a command's output.
const pauseToFill = 2 * time.Millisecond

// outputOf runs a command and reads its output. After the command has ended it waits at most longer for
// the rest: half of that for standard error, which Wait waits for, half for standard output. It
// reads seldom, and from a descriptor outside Go's poller: FreeBSD's sysctl(8) does not buffer its
// output, so a blocked reader, or the poller, would wake for every word: sixteen thousand times for
// sysctl -a.
func outputOf(cmd *exec.Cmd, out *host.FirstBytes, longer time.Duration) error {
	var p [2]int
	if err := syscall.Pipe2(p[:], syscall.O_CLOEXEC); err != nil {
		return fmt.Errorf("make a pipe: %w", err)
	}
	defer syscall.Close(p[0])
	to := os.NewFile(uintptr(p[1]), "output")
	cmd.Stdout, cmd.WaitDelay = to, longer/2
	err := syscall.SetNonblock(p[0], true)
	if err == nil {
		err = cmd.Start()
	}
	to.Close()
	if err != nil {
		return err
	}
	var late <-chan time.Time
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for piece := make([]byte, 64<<10); ; {
		n, rerr := syscall.Read(p[0], piece)
		_, _ = out.Write(piece[:max(0, n)]) // never fails
		if n == 0 && rerr == nil {
			if late == nil {
				err = <-ended
			}
			return err
		}
		select {
		case err = <-ended:
			late = time.After(longer / 2)
		case <-late:
			return cmp.Or(err, exec.ErrWaitDelay)
		case <-time.After(pauseToFill):
		}
	}
}

// LeftOut implements host.Reader.
func (*Host) LeftOut() []fact.LeftOut { return nil }

// Close implements host.Reader.
func (*Host) Close() error { return nil }

var _ host.Reader = (*Host)(nil)

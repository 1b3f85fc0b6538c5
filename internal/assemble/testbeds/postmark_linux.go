package testbeds

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	labserve "linerate/internal/lab/serve"
	"linerate/internal/load/client"
	"linerate/internal/load/fileload"
	"linerate/internal/load/request"
	"linerate/internal/server"
	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// postmarkArm is an arm's file system, on which PostMark makes its files.
type postmarkArm struct {
	box *server.Box
	run fileload.Postmark
}

// startPostmark makes a file system at a site.
func startPostmark(at testbed.Site, settings []setting.Setting, pool fileload.Pool) (labserve.Server, error) {
	if _, err := fileload.FindPostmark(); err != nil {
		return nil, err
	}
	box, err := boxWithDisk(at, settings, func(b *server.Box) error { return b.Mkdir(poolDir, 0o755) })
	if err != nil {
		return nil, err
	}
	a := &postmarkArm{box: box}
	a.run = fileload.Postmark{Pool: pool, Dir: server.Root + "/" + poolDir, Start: func(c *exec.Cmd) error {
		c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL} // of the box's thread
		return box.Do(c.Start)
	}}
	return a, nil
}

// Ask has PostMark make files, do the transactions and remove what is left, and
// waits until all of it is on the disk: that is in no rate, as in PostMark's own.
func (a *postmarkArm) Ask(ctx context.Context, o labserve.Offer) (*request.Account, request.Meter, error) {
	account, m, err := a.run.Account(ctx, client.Load{Requests: o.Requests, Seed: o.Seed})
	return account, m, errors.Join(err, a.box.SyncDisk())
}

// CPU is the kernel's time for PostMark.
func (a *postmarkArm) CPU() time.Duration { return a.run.System }

// Running is nil: a kernel does not end by itself.
func (a *postmarkArm) Running() error { return nil }

// Stop unmounts the file system; its files go with it.
func (a *postmarkArm) Stop() (*study.ServerLog, error) { return nil, a.box.Close() }

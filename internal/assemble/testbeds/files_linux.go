package testbeds

import (
	"context"
	"time"

	labserve "linerate/internal/lab/serve"
	"linerate/internal/load/client"
	"linerate/internal/load/fileload"
	"linerate/internal/load/request"
	"linerate/internal/server"
	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// fileArm is an arm's file system with its files; the server is the kernel.
type fileArm struct {
	box  *server.Box
	set  *fileload.Set
	load client.Load
	cpu  time.Duration
}

// filesSeed is the seed for the files, the same for all arms.
const filesSeed = 1

// poolDir is the directory of the files, below the disk's root, which may contain others
// (lost+found).
const poolDir = server.DiskDir + "/pool"

func startFiles(ctx context.Context, at testbed.Site, settings []setting.Setting, part study.Part) (labserve.Server, error) {
	f := part.Files
	pool := fileload.Pool{Files: f.Count, Directories: f.Directories, Lanes: f.Lanes, Sync: f.Fsync, Seed: filesSeed}
	var err error
	if pool.Min, pool.Max, err = f.Range(); err != nil {
		return nil, err
	}
	a := &fileArm{load: client.Load{Rate: f.Rate, Arrivals: request.Process(f.Arrivals), Timeout: time.Duration(f.Timeout * 1e9)}}
	a.box, err = boxWithDisk(at, settings, func(b *server.Box) error { return a.prepare(ctx, b, pool) })
	if err != nil {
		if a.set != nil {
			a.set.Release() // its open files keep the disk busy
		}
		return nil, err
	}
	return a, nil
}

func (a *fileArm) prepare(ctx context.Context, box *server.Box, pool fileload.Pool) error {
	if err := box.Mkdir(poolDir, 0o755); err != nil {
		return err
	}
	path, err := box.Path(poolDir)
	if err != nil {
		return err
	}
	// Files are created without fsync(2), and flushed together.
	quick := pool
	quick.Sync = false
	if a.set, err = fileload.Prepare(ctx, path, quick); err != nil {
		return err
	}
	a.set.Sync = pool.Sync
	return a.set.Flush()
}

// Ask offers the transactions once more.
func (a *fileArm) Ask(ctx context.Context, o labserve.Offer) (*request.Account, request.Meter, error) {
	l := a.load
	l.Warmup, l.Duration, l.Requests, l.Seed = o.Warmup, o.Lasts, o.Requests, o.Seed
	_, before := client.CPU()
	account, m, err := a.set.Account(ctx, l)
	_, after := client.CPU()
	a.cpu += after - before
	return account, m, err
}

// CPU returns the CPU time of this process during Ask, when it does nothing but the arm's
// transactions.
func (a *fileArm) CPU() time.Duration { return a.cpu }

// Running returns nil: a kernel does not exit by itself.
func (a *fileArm) Running() error { return nil }

// Stop unmounts the file system and thereby deletes its files.
func (a *fileArm) Stop() (*study.ServerLog, error) {
	a.set.Release()
	return nil, a.box.Close()
}

// Package fileload loads a file system like a mail or news server: with the
// transactions of PostMark (J. Katcher, "PostMark: A New File System
// Benchmark", TR3022, 1997) on a pool of small files. Each transaction is a
// read or an append, and a creation or a deletion. They are counted like
// requests to a server, in an open or a closed loop.
//
// PostMark itself runs transactions one after another; it measures whole
// seconds, and ignores data not yet on disk at the end.
package fileload

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/hint"
	"linerate/internal/load/client"
	"linerate/internal/load/request"
)

// Set is the files of a Pool in a directory.
type Set struct {
	Pool
	dirs  []int // file descriptors of the directories
	lanes []*lane
}

// Prepare creates the files in a directory, which must be empty. Remove
// deletes them, and Release closes what the set holds open.
func Prepare(ctx context.Context, dir string, p Pool) (*Set, error) {
	s := &Set{Pool: p}
	if err := s.directories(dir); err != nil {
		s.Release()
		return nil, err
	}
	for i := range p.Lanes {
		s.lanes = append(s.lanes, newLane(s, i))
	}
	err := s.each(ctx, func(i int, l *lane) error {
		share := p.Files / p.Lanes
		if i < p.Files%p.Lanes {
			share++
		}
		for n := 0; n < share && ctx.Err() == nil; n++ {
			if err := l.create(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		err = errors.Join(explain(fmt.Errorf("make %d files: %w", p.Files, err)), s.Remove(context.WithoutCancel(ctx)))
		s.Release()
		return nil, err
	}
	return s, nil
}

// explain adds advice to errors from a full file system.
func explain(err error) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return hint.With(err, "fewer or smaller files, or a larger file system: a small file takes a whole block and an inode")
	}
	return err
}

// directories opens the set's directory and creates its subdirectories.
func (s *Set) directories(dir string) error {
	const flags = unix.O_DIRECTORY | unix.O_RDONLY | unix.O_CLOEXEC
	top, err := unix.Open(dir, flags, 0)
	if err != nil {
		return fmt.Errorf("open the directory %s: %w", dir, err)
	}
	s.dirs = append(s.dirs, top)
	for i := range s.Directories {
		name := "d" + strconv.Itoa(i)
		if err := unix.Mkdirat(top, name, 0o755); err != nil {
			return explain(fmt.Errorf("make the directory %s/%s: %w", dir, name, err))
		}
		fd, err := unix.Openat(top, name, flags, 0)
		if err != nil {
			return fmt.Errorf("open the directory %s/%s: %w", dir, name, err)
		}
		s.dirs = append(s.dirs, fd)
	}
	return nil
}

// each runs f for all lanes concurrently.
func (s *Set) each(ctx context.Context, f func(i int, l *lane) error) error {
	var wait sync.WaitGroup
	errs := make([]error, len(s.lanes))
	for i, l := range s.lanes {
		wait.Go(func() { errs[i] = f(i, l) })
	}
	wait.Wait()
	return errors.Join(append(errs, ctx.Err())...)
}

// Account runs a load on the existing files, and then waits until everything
// written is on disk (request.Meter.Settle).
func (s *Set) Account(ctx context.Context, l client.Load) (*request.Account, request.Meter, error) {
	a, m, err := client.Run(ctx, client.Spec{Load: l, Targets: len(Pairs), Lanes: s.Lanes}, func(context.Context) (client.Source, error) { return s, nil })
	begin := time.Now()
	if e := flush(s.dirs[0]); e != nil {
		err = errors.Join(err, fmt.Errorf("flush the file system: %w", e))
	}
	m.Settle = time.Since(begin)
	return a, m, err
}

// Flush waits until everything written is on disk.
func (s *Set) Flush() error { return flush(s.dirs[0]) }

// Lane returns the i-th share of the files.
func (s *Set) Lane(i int, _ client.Events) client.Lane { return s.lanes[i] }

// Used counts only the generator's user time: system time is the file
// system's work.
func (s *Set) Used() client.Used {
	user, _ := client.CPU()
	return client.Used{CPU: user}
}

// Close keeps the set, for the next load.
func (s *Set) Close() {}

// Release closes the set's directories.
func (s *Set) Release() {
	for _, fd := range s.dirs {
		unix.Close(fd)
	}
	s.dirs = nil
}

// Remove deletes the remaining files and their directories.
func (s *Set) Remove(ctx context.Context) error {
	err := s.each(ctx, func(_ int, l *lane) error {
		for len(l.files) > 0 && ctx.Err() == nil {
			if err := l.remove(len(l.files) - 1); err != nil {
				return err
			}
		}
		return nil
	})
	for i := range s.dirs[1:] {
		err = errors.Join(err, unix.Unlinkat(s.dirs[0], "d"+strconv.Itoa(i), unix.AT_REMOVEDIR))
	}
	return err
}

func newLane(s *Set, i int) *lane {
	l := &lane{set: s, prefix: "l" + strconv.Itoa(i) + "-", rng: rand.New(rand.NewPCG(s.Seed, uint64(i)^0xf11e)), buf: make([]byte, block)}
	for k := range l.buf { // letters that compress no better than text
		l.buf[k] = 'a' + byte(l.rng.Uint32()&15)
	}
	return l
}

// Pool is a set of files and the transactions on them: as many read as append, and as
// many create as delete.
type Pool struct {
	Files       int // initially
	Min, Max    int // size of a new file, in bytes; appending goes up to Max
	Directories int // number of subdirectories for the files; 0: none
	Lanes       int // concurrent transactions, each on a share of the files
	Sync        bool
	Seed        uint64
}

// block is the size of a read(2) or write(2), in bytes.
const block = 4096

// The targets of the mix: each is a pair of operations.
const (
	readCreate = iota
	readDelete
	appendCreate
	appendDelete
)

// Pairs names the targets of the mix, as in request.Result.Targets.
var Pairs = []string{"read, create", "read, delete", "append, create", "append, delete"}

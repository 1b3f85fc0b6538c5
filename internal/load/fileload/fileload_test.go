package fileload

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/load/client"
	"linerate/internal/load/request"
)

func pool() Pool {
	return Pool{Files: 40, Min: 100, Max: 9000, Directories: 3, Lanes: 2, Seed: 7}
}

func load(n uint64) client.Load {
	return client.Load{Requests: n, Timeout: 10 * time.Second, Arrivals: request.Constant, Seed: 1}
}

// onDisk counts files and their bytes.
func onDisk(t *testing.T, dir string) (files int, bytes int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			i, err := d.Info()
			if err != nil {
				return err
			}
			files++
			bytes += i.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, bytes
}

// done adds up what a set's lanes did, including the creation of the files.
func done(s *Set) (sum [operations]tally) {
	for _, l := range s.lanes {
		for op, t := range l.ops {
			sum[op].count += t.count
			sum[op].bytes += t.bytes
		}
	}
	return sum
}

// TestWhatWasCountedIsOnTheDisk: the files and bytes on disk match the operations, and none is left
// after Remove.
func TestWhatWasCountedIsOnTheDisk(t *testing.T) {
	for name, change := range map[string]func(*Pool){"plain": func(*Pool) {}, "fsync": func(p *Pool) { p.Sync = true }, "flat": func(p *Pool) { p.Directories = 0 }, "one size": func(p *Pool) { p.Min = p.Max }} {
		t.Run(name, func(t *testing.T) {
			dir, p := t.TempDir(), pool()
			change(&p)
			s, err := Prepare(t.Context(), dir, p)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Release()
			made, first := onDisk(t, dir)
			if made != p.Files {
				t.Fatalf("%d files made, want %d", made, p.Files)
			}
			a, m, err := s.Account(t.Context(), load(200))
			if err != nil {
				t.Fatal(err)
			}
			r := a.Result(m)
			if r.Answered != 200 || r.Failed != 0 || m.Settle <= 0 || r.SettledRate >= r.RequestRate {
				t.Errorf("result %+v", r)
			}
			ops := done(s)
			ops[opCreate].count -= uint64(p.Files) // those of Prepare
			ops[opCreate].bytes -= uint64(first)
			if n := ops[opCreate].count + ops[opDelete].count; n != 200 {
				t.Errorf("%d creations and deletions, want 200", n)
			}
			files, bytes := onDisk(t, dir)
			if want := p.Files + int(ops[opCreate].count) - int(ops[opDelete].count); files != want {
				t.Errorf("%d files are there, want %d", files, want)
			}
			if most := first + int64(ops[opCreate].bytes+ops[opAppend].bytes); bytes > most || bytes <= 0 {
				t.Errorf("%d bytes are there, at most %d were written", bytes, most)
			}
			if r.BodyBytes != ops[opCreate].bytes+ops[opAppend].bytes+ops[opRead].bytes {
				t.Errorf("the account has %d bytes, the operations %+v", r.BodyBytes, ops)
			}
			if err := s.Remove(t.Context()); err != nil {
				t.Error(err)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("%d entries are left", len(left))
			}
		})
	}
}

// TestSharesAreKept: the operations have the requested shares.
func TestSharesAreKept(t *testing.T) {
	p := pool()
	p.Min, p.Max, p.Lanes = 1, 1<<20, 1
	s, err := Prepare(t.Context(), t.TempDir(), p)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	if _, _, err := s.Account(t.Context(), load(80)); err != nil {
		t.Fatal(err)
	}
	if ops := done(s); ops[opCreate].count != uint64(p.Files)+40 || ops[opRead].count != 40 || ops[opAppend].count != 40 || ops[opDelete].count != 40 {
		t.Errorf("%+v", ops)
	}
}

// TestAnOpenLoopCountsFromWhenItWasDue: one lane cannot keep up with a rate beyond its own, and the
// latencies show it.
func TestAnOpenLoopCountsFromWhenItWasDue(t *testing.T) {
	p := pool()
	p.Lanes = 1
	s, err := Prepare(t.Context(), t.TempDir(), p)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	l := load(3000)
	l.Rate = 5e6
	a, m, err := s.Account(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	r := a.Result(m)
	if r.Waited == 0 || r.Latency.Max < 10*r.Service.P50 {
		t.Errorf("waited %d, latency %+v, service %+v", r.Waited, r.Latency, r.Service)
	}
}

// TestALostFileIsAFailure: reading a missing file is a failure, not an empty read.
func TestALostFileIsAFailure(t *testing.T) {
	p := pool()
	p.Files, p.Lanes, p.Directories = 1, 1, 0
	dir := t.TempDir()
	s, err := Prepare(t.Context(), dir, p)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	if err := os.Truncate(filepath.Join(dir, "l0-0"), 3); err != nil {
		t.Fatal(err)
	}
	l := s.Lane(0, nil)
	if r := l.Do(readCreate, time.Now().Add(time.Hour)); !strings.Contains(r.Detail, "shorter than what was written") {
		t.Errorf("%+v", r)
	}
	if k := kindOf(named("write", "x", unix.ENOSPC)); k != request.NoSpace {
		t.Errorf("a full disk is %v", k)
	}
}

func TestNoDirectory(t *testing.T) {
	if _, err := Prepare(t.Context(), filepath.Join(t.TempDir(), "none"), pool()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory that is not there: %v", err)
	}
}

// TestAStoppedPreparationLeavesNothing: an interrupted preparation leaves no files.
func TestAStoppedPreparationLeavesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	if _, err := Prepare(ctx, dir, pool()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%d entries are left", len(left))
	}
}

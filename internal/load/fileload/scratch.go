package fileload

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Scratch is a directory of this process's own, below one of the user's.
// What a process that was killed left there is removed by the next one.
type Scratch struct {
	Path string
	lock *os.File
}

const (
	scratchPrefix = "linerate-files-"
	lockName      = "lock" // held by the owner as long as it lives
	poolName      = "pool"
)

// NewScratch makes the directory, and removes those whose owners are gone.
func NewScratch(in string) (*Scratch, error) {
	if err := sweep(in); err != nil {
		return nil, err
	}
	path, err := os.MkdirTemp(in, scratchPrefix)
	if err != nil {
		return nil, fmt.Errorf("make a directory for the files: %w", err)
	}
	s := &Scratch{Path: filepath.Join(path, poolName)}
	if s.lock, err = hold(path); err == nil {
		err = os.Mkdir(s.Path, 0o755)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close removes the directory and all that is in it.
func (s *Scratch) Close() error {
	err := os.RemoveAll(filepath.Dir(s.Path))
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	return err
}

// hold takes the lock of a directory.
func hold(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return f, nil
}

// sweep removes the directories of owners that are gone. One without a lock
// is being made.
func sweep(in string) error {
	all, err := os.ReadDir(in)
	if err != nil {
		return fmt.Errorf("read the directory: %w", err)
	}
	for _, e := range all {
		dir := filepath.Join(in, e.Name())
		if !e.IsDir() || !strings.HasPrefix(e.Name(), scratchPrefix) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, lockName)); err != nil {
			continue
		}
		if f, err := hold(dir); err == nil { // else its owner lives
			err = os.RemoveAll(dir)
			f.Close()
			if err != nil {
				return fmt.Errorf("remove what a run before left: %w", err)
			}
		}
	}
	return nil
}

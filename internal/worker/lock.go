package worker

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"

	"linerate/internal/hint"
)

// nameOf is what of a testbed's name a file's name may hold.
var nameOf = regexp.MustCompile(`[^a-zA-Z0-9._-]`)

// lockFile is the name of a testbed's lock: the testbed's, and a digest where that has what
// a file's name may not hold.
func lockFile(testbed string) string {
	name := nameOf.ReplaceAllString(testbed, "_")
	if name != testbed {
		sum := sha256.Sum256([]byte(testbed))
		name += "-" + hex.EncodeToString(sum[:8])
	}
	return "testbed-" + name + ".lock"
}

// Lock takes the testbed on this machine until the process ends, however it ends: a lock
// (flock(2)) on a file in dir, whose content, drawn once, is the lock's name. A worker
// that holds it knows that the worker that named the same lock before is dead, and need not wait
// for its lease to run out. The file is never removed.
func Lock(dir, testbed string) (name string, release func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", nil, fmt.Errorf("lock testbed %s: %w", testbed, err)
	}
	path := filepath.Join(dir, lockFile(testbed))
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return "", nil, fmt.Errorf("lock testbed %s: %w", testbed, err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		err = errors.Join(err, f.Close())
		if errors.Is(err, unix.EWOULDBLOCK) {
			return "", nil, hint.With(fmt.Errorf("another worker on this machine has testbed %s", testbed), "a testbed has one worker; give another testbed another name")
		}
		return "", nil, fmt.Errorf("lock testbed %s: %w", testbed, err)
	}
	release = func() { _ = f.Close() } // which gives the lock back
	data, err := io.ReadAll(io.LimitReader(f, 64))
	if name = strings.TrimSpace(string(data)); err == nil && len(name) != 32 { // new, or torn by a crash: a name that was not synced was never used
		var raw [16]byte
		_, _ = rand.Read(raw[:]) // never fails
		name = hex.EncodeToString(raw[:])
		if err = f.Truncate(0); err == nil {
			_, err = f.WriteAt([]byte(name), 0)
		}
		err = errors.Join(err, f.Sync())
	}
	if err != nil {
		release()
		return "", nil, fmt.Errorf("lock testbed %s: %w", testbed, err)
	}
	return name, release, nil
}

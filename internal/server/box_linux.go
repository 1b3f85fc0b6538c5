package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"linerate/internal/port"
)

// Box is where servers run. Its thread starts them all and outlives them, because their
// parent-death signal follows that thread.
type Box struct {
	work chan func()   // for the thread in the namespaces
	quit chan struct{} // closed at the end
	over chan error    // result of the thread
	dir  int           // Root, from outside
	disk bool          // mounted; used by the thread
	once sync.Once

	mu      sync.Mutex
	running []*Process
}

// NewBox creates a Box in the network namespace of a place, with a mount namespace in which Root is
// a tmpfs, and /sys shows the namespace's devices.
func NewBox(in port.Place) (*Box, error) {
	b := &Box{work: make(chan func()), quit: make(chan struct{}), over: make(chan error, 1), dir: -1}
	made := make(chan error, 1)
	go func() {
		err := in(func() error {
			err := b.move()
			made <- err
			for {
				select {
				case f := <-b.work:
					f()
				case <-b.quit:
					b.unmount()
					return nil
				}
			}
		})
		b.over <- err
		made <- err // if in never called it
	}()
	if err := <-made; err != nil {
		return nil, errors.Join(fmt.Errorf("make a place for a server: %w", err), b.Close())
	}
	return b, nil
}

// move moves the calling thread into the Box's own mount namespace.
func (b *Box) move() error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("make a mount namespace: %w", err)
	}
	for _, m := range []struct {
		what, to, kind, data string
		flags                uintptr
	}{
		{"", "/", "", "", unix.MS_REC | unix.MS_PRIVATE},
		{"linerate", Root, "tmpfs", "mode=0755", unix.MS_NOSUID | unix.MS_NODEV},
		{"sysfs", "/sys", "sysfs", "", 0},
	} {
		if err := unix.Mount(m.what, m.to, m.kind, m.flags, m.data); err != nil {
			return fmt.Errorf("mount %s on %s in it: %w", m.kind, m.to, err)
		}
	}
	var err error
	b.dir, err = unix.Open(Root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	return err
}

// unmount unmounts the Box's disk if its thread does not end with it: Go never ends a process's
// first thread.
func (b *Box) unmount() {
	if b.disk {
		_ = unix.Unmount(Root+"/"+DiskDir, unix.MNT_DETACH) // otherwise unmounted with the namespace
	}
}

// Do runs f on the Box's thread, inside all its namespaces. Concurrent calls run one after the
// other.
func (b *Box) Do(f func() error) error {
	done := make(chan error, 1)
	guarded := func() {
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("panic in a server's place: %v", r)
			}
		}()
		done <- f()
	}
	select {
	case b.work <- guarded:
		return <-done
	case <-b.quit:
		return errClosed
	}
}

var errClosed = errors.New("the server's place is closed")

// Path returns a path for this process to a file of Root, whatever the namespace of its threads. It
// rejects names that leave Root.
func (b *Box) Path(name string) (string, error) {
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("%q is not a name within a server's directory", name)
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", b.dir, name), nil
}

// Write writes a file of Root, creating its directories.
func (b *Box) Write(name string, data []byte, perm fs.FileMode) error {
	path, err := b.Path(name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the directory of %s: %w", name, err)
	}
	if err := os.WriteFile(path, data, perm); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return os.Chmod(path, perm) // regardless of the umask
}

// Mkdir creates a directory of Root with a mode, such as one that everybody may write to.
func (b *Box) Mkdir(name string, perm fs.FileMode) error {
	path, err := b.Path(name)
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(path, 0o755), os.Chmod(path, perm))
}

// Read reads a file of Root.
func (b *Box) Read(name string) ([]byte, error) {
	path, err := b.Path(name)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// Close ends everything that runs in the Box, and deletes its files.
func (b *Box) Close() (err error) {
	b.once.Do(func() {
		b.mu.Lock()
		running := b.running
		b.mu.Unlock()
		for _, p := range running {
			p.Stop()
		}
		close(b.quit)
		err = <-b.over
		if b.dir >= 0 {
			unix.Close(b.dir)
		}
	})
	return err
}

package netnsbed

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"

	"linerate/internal/port"
)

// netnsDir is where iproute2 looks for named namespaces.
const netnsDir = "/run/netns"

// namespace is a network namespace held open by a descriptor. One without a
// name ends with its last descriptor: nothing is left behind by a kill -9.
type namespace struct {
	fd   int
	name string
}

// newNamespace makes a network namespace; with a name it is bound to
// /run/netns/NAME, for ip netns exec, and outlives the process.
func newNamespace(name string) (*namespace, error) {
	ns := &namespace{fd: -1, name: name}
	err := onThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("make a network namespace: %w", err)
		}
		self := fmt.Sprintf("/proc/self/task/%d/ns/net", unix.Gettid())
		fd, err := unix.Open(self, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("open the new network namespace: %w", err)
		}
		ns.fd = fd
		if name == "" {
			return nil
		}
		return bindName(self, filepath.Join(netnsDir, name))
	})
	if err != nil {
		ns.close()
		return nil, err
	}
	return ns, nil
}

// openNamespace opens a named namespace.
func openNamespace(name string) (*namespace, error) {
	fd, err := unix.Open(filepath.Join(netnsDir, name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open network namespace %s: %w", name, err)
	}
	return &namespace{fd: fd, name: name}, nil
}

func bindName(self, path string) error {
	if err := os.MkdirAll(netnsDir, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", netnsDir, err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDONLY, 0o444)
	if err != nil {
		return fmt.Errorf("name a network namespace: %w", err)
	}
	f.Close()
	if err := unix.Mount(self, path, "", unix.MS_BIND, ""); err != nil {
		os.Remove(path)
		return fmt.Errorf("bind a network namespace to %s: %w", path, err)
	}
	return nil
}

// removeName unbinds a named namespace; one that is gone is no error.
func removeName(name string) error {
	path := filepath.Join(netnsDir, name)
	if err := unix.Unmount(path, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("unbind network namespace %s: %w", name, err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove network namespace %s: %w", name, err)
	}
	return nil
}

func (ns *namespace) close() {
	if ns != nil && ns.fd >= 0 {
		unix.Close(ns.fd)
		ns.fd = -1
	}
}

// do runs f on a fresh thread inside the namespace (port.Place).
func (ns *namespace) do(f func() error) error {
	return onThread(func() error {
		if err := unix.Setns(ns.fd, unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter a network namespace: %w", err)
		}
		return f()
	})
}

// doSys is do with /sys showing the namespace's own devices.
func (ns *namespace) doSys(f func() error) error { return inSys(ns.do, f) }

// inSys runs f in a place whose thread ends with it, with /sys showing the devices
// there: sysfs belongs to the network namespace it was mounted in, so the thread gets
// its own mount namespace and sysfs.
func inSys(in port.Place, f func() error) error {
	return in(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
			return fmt.Errorf("make a mount namespace: %w", err)
		}
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return fmt.Errorf("make mounts private: %w", err)
		}
		if err := unix.Mount("sysfs", "/sys", "sysfs", 0, ""); err != nil {
			return fmt.Errorf("mount the namespace's sysfs: %w", err)
		}
		return f()
	})
}

// onThread runs f on an operating-system thread that ends with it, so that
// whatever f did to the thread is undone by its end.
func onThread(f func() error) error {
	done := make(chan error, 1)
	go func() {
		// Never unlocked: the runtime ends the thread with the goroutine.
		runtime.LockOSThread()
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("panic in a namespace: %v", r)
			}
		}()
		done <- f()
	}()
	return <-done
}

package netnsbed

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"linerate/internal/port"
)

// namespace is a network namespace held open by a descriptor. It ends with its last
// descriptor, so a kill -9 leaves nothing behind.
type namespace struct{ fd int }

func newNamespace() (*namespace, error) {
	ns := &namespace{fd: -1}
	err := onThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("make a network namespace: %w", err)
		}
		fd, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("open the new network namespace: %w", err)
		}
		ns.fd = fd
		return nil
	})
	return ns, err
}

func (ns *namespace) close() {
	if ns != nil && ns.fd >= 0 {
		unix.Close(ns.fd)
		ns.fd = -1
	}
}

// do runs f on a new thread inside the namespace (port.Place).
func (ns *namespace) do(f func() error) error {
	return onThread(func() error {
		if err := unix.Setns(ns.fd, unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter a network namespace: %w", err)
		}
		return f()
	})
}

// doSys is do with /sys showing the namespace's devices.
func (ns *namespace) doSys(f func() error) error { return inSys(ns.do, f) }

// inSys runs f in a place whose thread ends with it, with /sys showing the devices
// there: sysfs belongs to the network namespace in which it was mounted, so the
// thread gets its own mount namespace and sysfs.
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

// onThread runs f on an operating-system thread that ends with it, which
// undoes everything that f did to the thread.
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

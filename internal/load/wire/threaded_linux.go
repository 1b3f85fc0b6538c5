package wire

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/cputime"
	"linerate/internal/port"
)

// Thread gives the receiving side of a device (its NAPI) a kernel thread of
// its own, pinned to a CPU, so that it can be offered more than it takes. The
// device must have an XDP program by then; before are the NAPIThreads from
// before it had: the new one is its own, older ones are other labs'.
func Thread(device string, in port.Place, cpu int, before map[int]string) error {
	var ns int
	err := in(func() (err error) {
		ns, err = unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return fmt.Errorf("open the namespace of %s: %w", device, err)
	}
	defer unix.Close(ns)
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with its mounts
		done <- writeThreaded(ns, device)
	}()
	if err := <-done; err != nil {
		return fmt.Errorf("give %s a NAPI thread: %w", device, err)
	}
	for range 100 {
		for pid := range NAPIThreads(device) {
			if _, old := before[pid]; !old {
				var set unix.CPUSet
				set.Set(cpu)
				return unix.SchedSetaffinity(pid, &set)
			}
		}
		time.Sleep(2 * time.Millisecond)
	}
	return errors.New("the kernel made no NAPI thread for " + device)
}

// writeThreaded sets the device's attribute in a sysfs of its namespace.
func writeThreaded(ns int, device string) error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Setns(ns, unix.CLONE_NEWNET); err != nil {
		return err
	}
	if err := unix.Mount("sysfs", "/sys", "sysfs", 0, ""); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join("/sys/class/net", device, "threaded"), []byte("1"), 0)
}

// NAPIThreads are the kernel threads that receive for devices of a name, in
// whatever namespace.
func NAPIThreads(device string) map[int]string { return cputime.KernelThreads("napi/" + device + "-") }

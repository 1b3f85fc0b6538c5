package netnsbed

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/cputime"
	"linerate/internal/hint"
	"linerate/internal/knob"
	"linerate/internal/port"
	"linerate/internal/testbed"
)

// place assigns the CPUs and records which are shared.
func (b *Bed) place(asked *testbed.CPUs) error {
	allowed, err := cputime.Allowed()
	if err != nil {
		return err
	}
	cpus, notes, err := assign(b.mode, allowed, asked)
	if err != nil {
		return err
	}
	b.cpus = cpus
	b.notes = append(b.notes, notes...)
	if isolated := readLine("/sys/devices/system/cpu/isolated"); isolated == "" {
		b.notes = append(b.notes, "no CPU is isolated (isolcpus): other processes and interrupts may take time from the lab")
	}
	return nil
}

// assign is the pure part of place.
func assign(mode testbed.Mode, allowed []int, asked *testbed.CPUs) (testbed.CPUs, []string, error) {
	last := allowed[len(allowed)-1]
	if mode == testbed.Cost {
		c := testbed.CPUs{Generator: last, DUT: last, Receiver: last}
		if asked != nil {
			c = *asked
		}
		return c, []string{fmt.Sprintf("mode cost: generator, DUT and receiver run to completion on CPU %d", c.Generator)}, nil
	}
	if len(allowed) < 2 {
		err := errors.New("mode overload needs two CPUs: one offers, one forwards")
		return testbed.CPUs{}, nil, hint.With(err, "mode cost works on one CPU")
	}
	c := testbed.CPUs{Generator: allowed[0], DUT: last, Receiver: last}
	if asked != nil {
		c = *asked
	}
	if c.Generator == c.DUT {
		return c, nil, errors.New("mode overload needs generator and DUT on different CPUs")
	}
	notes := []string{fmt.Sprintf("mode overload: the generator runs on CPU %d, the DUT's ingress thread on CPU %d", c.Generator, c.DUT)}
	if c.Receiver == c.DUT {
		notes = append(notes, fmt.Sprintf("the receiver shares CPU %d with the DUT: its counting is part of the DUT's time per packet", c.DUT))
	}
	return c, notes, nil
}

// thread gives a DUT's ingress a kernel thread on the DUTs' CPU.
func (b *Bed) thread(dut *namespace) (pid int, err error) {
	unlock, err := knob.LockState(registryDir())
	if err != nil {
		return 0, err
	}
	defer unlock()
	if pid, err = Thread(dut.do, ingress.Device, b.cpus.DUT); err != nil {
		return 0, &testbed.ErrUnavailable{Setting: "mode overload", Reason: err.Error()}
	}
	// Softirqs, which the thread replaces, take precedence over all programs; if
	// this is not permitted the thread has normal priority.
	_ = unix.Setpriority(unix.PRIO_PROCESS, pid, first)
	return pid, nil
}

// Thread gives the receiving side of a device (its NAPI) a kernel thread, pinned to a
// CPU, so that the device can be overloaded. The new thread belongs to this device;
// older ones belong to devices of the same name in other namespaces.
func Thread(in port.Place, device string, cpu int) (pid int, err error) {
	before := napiThreads(device)
	err = inSys(in, func() error {
		return os.WriteFile(filepath.Join("/sys/class/net", device, "threaded"), []byte("1"), 0)
	})
	if err != nil {
		return 0, fmt.Errorf("no threaded NAPI of %s: %w", device, err)
	}
	for range 100 {
		for pid := range napiThreads(device) {
			if _, old := before[pid]; old {
				continue
			}
			if err := cputime.Pin(pid, cpu); err != nil {
				return 0, fmt.Errorf("cannot pin the thread of %s, a kernel's, to CPU %d: %w; it takes root", device, cpu, err)
			}
			return pid, nil
		}
		time.Sleep(2 * time.Millisecond)
	}
	return 0, errors.New("the kernel made no NAPI thread for " + device)
}

// napiThreads lists the kernel threads of NAPI instances for a device name
// (napi/DEVICE-ID) on the whole machine.
func napiThreads(device string) map[int]string { return cputime.KernelThreads("napi/" + device + "-") }

func readLine(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

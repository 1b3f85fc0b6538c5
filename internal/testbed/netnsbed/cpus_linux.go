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
	"linerate/internal/testbed"
)

// place decides which CPU does what and writes down what is shared.
func (b *Bed) place(asked *testbed.CPUs) error {
	allowed, err := allowedCPUs()
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

// assign is place without the machine.
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

// allowedCPUs are those this process may run on, ascending.
func allowedCPUs() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("read the CPUs this process may use: %w", err)
	}
	var cpus []int
	for i := range len(set) * 64 {
		if set.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	if len(cpus) == 0 {
		return nil, errors.New("this process may run on no CPU")
	}
	return cpus, nil
}

// thread gives a DUT's ingress a kernel thread and pins it to the DUTs' CPU.
// The new thread is this DUT's; older ones are other DUTs'.
func (b *Bed) thread(dut *namespace) (pid int, err error) {
	unlock, err := lockRegistry()
	if err != nil {
		return 0, err
	}
	defer unlock()
	before := napiThreads(ingress.device)
	err = dut.doSys(func() error {
		return os.WriteFile(filepath.Join("/sys/class/net", ingress.device, "threaded"), []byte("1"), 0)
	})
	if err != nil {
		return 0, &testbed.ErrUnavailable{Setting: "mode overload", Reason: fmt.Sprintf("no threaded NAPI at the DUT's ingress: %v", err)}
	}
	for range 100 {
		for pid := range napiThreads(ingress.device) {
			if _, old := before[pid]; !old {
				// Softirqs, which the thread stands in for, precede all
				// programs; where this is not permitted it takes its turn.
				_ = unix.Setpriority(unix.PRIO_PROCESS, pid, first)
				return pid, pin(pid, b.cpus.DUT)
			}
		}
		time.Sleep(2 * time.Millisecond)
	}
	return 0, &testbed.ErrUnavailable{Setting: "mode overload", Reason: "the kernel made no thread for the DUT's ingress"}
}

// DUTThread is the kernel thread that does the DUT's work in mode overload,
// else 0 (testbed.Bed).
func (b *Bed) DUTThread() int { return b.dutThread }

// pin puts a kernel thread on one CPU.
func pin(pid, cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(pid, &set); err != nil {
		return &testbed.ErrUnavailable{Setting: "mode overload",
			Reason: fmt.Sprintf("cannot pin the DUT's ingress thread, a kernel's, to CPU %d: %v; it takes root", cpu, err)}
	}
	return nil
}

// napiThreads lists the kernel threads of a device's NAPI instances
// (napi/DEVICE-ID) on the whole machine.
func napiThreads(device string) map[int]string { return cputime.KernelThreads("napi/" + device + "-") }

func readLine(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

package instrument

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"linerate/internal/cputime"
	"linerate/internal/hint"
)

// tracepoints sums the time between the kernel's tracepoints at entry and exit of interrupt
// handlers and softirqs; the rest of the kernel's time is from /proc/stat. Tracepoints for
// system calls made each call 185 ns slower in a measurement, too much for a production
// host. The programs are not pinned, so they end with the process.
type tracepoints struct {
	objs  kerntimeObjects
	links []link.Link
}

// realtime exists on PREEMPT_RT kernels, whose softirqs run in preemptible threads.
const realtime = "/sys/kernel/realtime"

// OpenKernelClock starts measuring by tracepoints, or returns why this machine cannot.
func OpenKernelClock() (KernelClock, error) {
	if _, err := os.Stat(realtime); !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("softirqs of a PREEMPT_RT kernel can be preempted, so their tracepoints do not give CPU time")
	}
	t := &tracepoints{}
	if err := loadKerntimeObjects(&t.objs, nil); err != nil {
		return nil, tracepointRefused("load", err)
	}
	for _, p := range []*ebpf.Program{t.objs.HardEnds, t.objs.HardBegins, t.objs.SoftEnds, t.objs.SoftBegins} {
		l, err := link.AttachTracing(link.TracingOptions{Program: p, AttachType: ebpf.AttachTraceRawTp})
		if err != nil {
			return nil, errors.Join(tracepointRefused("attach", err), t.Close())
		}
		t.links = append(t.links, l)
	}
	return t, nil
}

func tracepointRefused(what string, err error) error {
	err = fmt.Errorf("%s the programs on the kernel's tracepoints: %w", what, err)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return hint.With(err, "they need root, or CAP_BPF and CAP_PERFMON")
	}
	return hint.With(err, "they need Linux 5.5 or later with BTF and BPF tracepoints (CONFIG_DEBUG_INFO_BTF, CONFIG_BPF_EVENTS)")
}

// Name returns the name of the method in records.
func (t *tracepoints) Name() string { return ByTracepoints }

// How describes what is counted, and how exactly.
func (t *tracepoints) How() (kernel, interrupts string) {
	const exact, also = "interrupt handlers and softirqs by the kernel's tracepoints, in nanoseconds",
		"; what a hypervisor takes meanwhile is in it, and so is the counting itself, some 0.1 µs an interrupt and a softirq, in every window alike"
	return exact + ", and what it does for programs and in threads by the ticks of /proc/stat" + also, exact + also
}

// exact returns the time in handlers and softirqs so far, on all possible CPUs.
func (t *tracepoints) exact() (sum time.Duration, err error) {
	var values []kerntimeSpent
	if err := t.objs.Cpus.Lookup(uint32(0), &values); err != nil {
		return 0, fmt.Errorf("read the kernel's time: %w", err)
	}
	for _, v := range values {
		sum += time.Duration(v.Hard + v.Soft)
	}
	return sum, nil
}

// Read returns the kernel's time so far, on all CPUs.
func (t *tracepoints) Read() (KernelTime, error) {
	exact, err := t.exact()
	if err != nil {
		return KernelTime{}, err
	}
	s, err := cputime.TimesOf(-1)
	return KernelTime{All: exact + s.System, Ticked: s.System, Interrupts: exact}, err
}

// Close detaches the programs from the tracepoints.
func (t *tracepoints) Close() (err error) {
	for _, l := range t.links {
		err = errors.Join(err, l.Close())
	}
	return errors.Join(err, t.objs.Close())
}

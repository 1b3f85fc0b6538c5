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

// tracepoints sums the time between the kernel's own marks of where an interrupt handler
// and a softirq begin and end; the rest of its work is /proc/stat's. System calls have such
// marks too, which made each take 185 ns longer where it was measured: too much to ask of a
// host in production. The programs end with the process: nothing of them is pinned.
type tracepoints struct {
	objs  kerntimeObjects
	links []link.Link
}

// realtime is there on kernels whose softirqs are threads that others may interrupt.
const realtime = "/sys/kernel/realtime"

// OpenKernelClock begins to measure by tracepoints; an error says why this machine cannot.
func OpenKernelClock() (KernelClock, error) {
	if _, err := os.Stat(realtime); !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("softirqs of a PREEMPT_RT kernel can be preempted, so that their marks tell no CPU time")
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

// Name is as records have it.
func (t *tracepoints) Name() string { return ByTracepoints }

// How says what is counted, and how exact that is.
func (t *tracepoints) How() (kernel, interrupts string) {
	const exact, also = "interrupt handlers and softirqs by the kernel's tracepoints, in nanoseconds",
		"; what a hypervisor takes meanwhile is in it, and so is the counting itself, some 0.1 µs an interrupt and a softirq, in every window alike"
	return exact + ", and what it does for programs and in threads by the ticks of /proc/stat" + also, exact + also
}

// exact is the time in handlers and softirqs so far, of all CPUs that there can be.
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

// Read is the kernel's time so far, of all CPUs.
func (t *tracepoints) Read() (KernelTime, error) {
	exact, err := t.exact()
	if err != nil {
		return KernelTime{}, err
	}
	s, err := cputime.TimesOf(-1)
	return KernelTime{All: exact + s.System, Ticked: s.System, Interrupts: exact}, err
}

// Close takes the programs off the tracepoints.
func (t *tracepoints) Close() (err error) {
	for _, l := range t.links {
		err = errors.Join(err, l.Close())
	}
	return errors.Join(err, t.objs.Close())
}

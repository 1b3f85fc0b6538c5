package instrument

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"linerate/internal/hint"
)

// KernelClock measures the CPU time of the machine's kernel.
type KernelClock interface {
	// Name is that of the way, as records have it.
	Name() string
	// How says what is counted of the kernel's whole time, and of interrupts alone, and how
	// exact that is; the second is "" where the way does not tell them from the rest.
	How() (kernel, interrupts string)
	// Read is the kernel's time on all CPUs since some moment before.
	Read() (KernelTime, error)
	Close() error
}

// KernelTime is CPU time of the kernel.
type KernelTime struct {
	All    time.Duration
	Ticked time.Duration // of it, what was counted by ticks of a clock
	// Interrupts is the time of interrupt handlers and softirqs, no part of which is by
	// ticks; 0 of a way that does not tell it.
	Interrupts time.Duration
}

// The ways, as records name them. ByTicks is no way of this package: it is what the kernel
// tells everybody (/proc/stat, kern.cp_time).
const (
	ByCycles      = "cycles"
	ByTracepoints = "tracepoints"
	ByTicks       = "ticks"
)

// way is one way to measure.
type way struct {
	name       string
	interrupts bool // tells them from the rest
	open       func() (KernelClock, error)
}

// errWhole is why a way does not do.
var errWhole = errors.New("they do not tell interrupts and softirqs, which the study asks for, from the kernel's other work")

// Lacks says why a machine has none of the ways that were tried, as an error whose text
// is for people.
type Lacks []WayLack

// WayLack is a way that the machine has not, and why.
type WayLack struct {
	Way string
	Why error
}

func (l Lacks) Error() string {
	var out []string
	for _, one := range l {
		text := one.Way + ": " + one.Why.Error()
		if h := hint.Of(one.Why); h != "" {
			text += " (" + h + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, "; no ")
}

// OpenKernelClock begins to measure by the best way that the machine has, or by the one that is
// wanted and no other, and says why it is none of the better ones: with interrupts only
// ways that tell these do. The source is nil where the wanted one is ByTicks, or the machine
// has none.
func OpenKernelClock(want string, interrupts bool) (s KernelClock, lacks Lacks, err error) {
	return choose(ways, want, interrupts)
}

// choose opens the first way that can be had.
func choose(ways []way, want string, interrupts bool) (KernelClock, Lacks, error) {
	if want == ByTicks {
		return nil, nil, nil
	}
	known := false
	var lacks Lacks
	for _, w := range ways {
		if want != "" && w.name != want {
			continue
		}
		known = true
		if interrupts && !w.interrupts {
			lacks = append(lacks, WayLack{w.name, errWhole})
			continue
		}
		s, err := w.open()
		if err == nil {
			return s, lacks, nil
		}
		lacks = append(lacks, WayLack{w.name, err})
	}
	if want != "" && !known {
		return nil, nil, fmt.Errorf("this linerate knows no way %q to count the kernel's CPU time", want)
	}
	return nil, lacks, nil
}

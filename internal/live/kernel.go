package live

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"linerate/internal/hint"
	"linerate/internal/kerntime"
	"linerate/internal/show"
	"linerate/internal/study/switchback"
)

// What is counted of the kernel's CPU time where nothing better is at hand.
const (
	byTicks   = "the kernel's CPU time (system, interrupts, softirq), as /proc/stat accounts it: by what runs when a CPU's clock ticks, so that work between two ticks is missed or counted as a whole one"
	byCPTime  = "the kernel's CPU time (system, interrupt), as kern.cp_time accounts it: by what runs when a CPU's statistics clock ticks"
	byAnybody = "the kernel's CPU time (system, interrupts, softirq), as /proc/stat or kern.cp_time accounts it: by what runs when a CPU's clock ticks"
)

// kernelWay is how the kernel's CPU time is counted, as records name it; "" of a study
// that does not ask for it.
func (o *Options) kernelWay() string {
	switch {
	case !switchback.CountsKernel(o.Metrics):
		return ""
	case o.Kernel != nil:
		return o.Kernel.Name()
	}
	return kerntime.Ticks
}

// howKernel says what is counted of the kernel's CPU time, and why nothing better is.
func (o *Options) howKernel() string {
	how := byAnybody
	switch {
	case o.Kernel != nil:
		how = "the kernel's CPU time: " + o.Kernel.How()
	case strings.EqualFold(o.OS, "linux"):
		how = byTicks
	case strings.EqualFold(o.OS, "freebsd"):
		how = byCPTime
	}
	if o.KernelLacks != "" {
		how += " (nothing better: no " + o.KernelLacks + ")"
	}
	return how
}

// WayOf is how the windows on record counted the kernel's CPU time: those of a linerate
// that did not say counted ticks; "" of none. Ways do not mix: each counts other things.
func WayOf(done []Window) string {
	if len(done) == 0 {
		return ""
	}
	if way := done[len(done)-1].KernelTime; way != "" {
		return way
	}
	return kerntime.Ticks
}

// sameWay refuses to go on by another way than the windows on record.
func (o *Options) sameWay() error {
	is := o.kernelWay()
	was := WayOf(o.Done)
	if is == "" || was == "" || was == is {
		return nil
	}
	err := fmt.Errorf("the study counted the kernel's CPU time by %s so far, which cannot be had now: by %s it would be another study", was, is)
	if o.KernelLacks != "" {
		err = fmt.Errorf("%w (%s)", err, o.KernelLacks)
	}
	return hint.With(err, "resume it as it was begun (on the host itself, as root), or begin a new one")
}

// meter puts into a sample what is counted more exactly than the host's own accounts
// are, and the packets of the same moment.
func (l *looker) meter(s *Sample) error {
	s.Kernel = math.NaN() // until it is known
	spent, err := l.kernel.Read()
	if err != nil {
		return err
	}
	text, err := os.ReadFile("/proc/net/dev")
	if err != nil {
		return err
	}
	s.Kernel, s.Ticked, s.Packets = spent.All.Seconds(), spent.Ticked.Seconds(), packetsIn(string(text))
	return nil
}

// packetsIn are the packets of /proc/net/dev.
func packetsIn(text string) float64 {
	p := parsing{Sample: Sample{DroppedAt: map[string]float64{}}}
	for line := range strings.Lines(text) {
		if name, counted, ok := strings.Cut(line, ":"); ok {
			p.device(append([]string{strings.TrimSpace(name)}, strings.Fields(counted)...))
		}
	}
	return p.Packets
}

// exactness says what chance does to what is counted by ticks, by what the pilot saw.
func (r *run) exactness(first, last Sample) {
	passed, length := last.Uptime-first.Uptime, r.o.Plan.Window-r.o.Plan.BurnIn
	kernel, ticked := (last.Kernel-first.Kernel)*length.Seconds()/passed, (last.Ticked-first.Ticked)*length.Seconds()/passed
	if !(passed > 0 && kernel > 0 && ticked >= 0) || first.Boot != last.Boot {
		return
	}
	text := fmt.Sprintf("; ticks of %s tell %s of it, which moves it by up to ±%s (95 %%) by chance in what counts of a window (%s)",
		show.Brief(time.Duration(last.Tick*float64(time.Second))), show.WholePercent(100*ticked/kernel), show.Percent(switchback.TickError(ticked, kernel, last.Tick)), show.Brief(length))
	if ticked == 0 {
		text = ""
	}
	for i := range r.o.metrics {
		if m := &r.o.metrics[i]; slices.Contains(switchback.OfKernel, m.Metric) {
			m.How += text
		}
	}
}

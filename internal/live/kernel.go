package live

import (
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"linerate/internal/hint"
	"linerate/internal/instrument"
	"linerate/internal/show"
	"linerate/internal/study"
)

// cpuTime is a kind of kernel CPU time that a metric counts.
type cpuTime struct {
	of  func(Sample) (all, ticked float64)
	how func(instrument.KernelClock) string
	// accounts describes what is counted if no better clock is available, by the host's
	// system in lower case; "" is for an unknown system.
	accounts map[string]string
}

var kernelTime = cpuTime{
	of: func(s Sample) (all, ticked float64) { return s.Kernel, s.Ticked },
	how: func(k instrument.KernelClock) string {
		how, _ := k.How()
		return "the kernel's CPU time: " + how
	},
	accounts: map[string]string{
		"linux":   "the kernel's CPU time (system, interrupts, softirq), as /proc/stat accounts it: by what runs when a CPU's clock ticks, so that work between two ticks is missed or counted as a whole one",
		"freebsd": "the kernel's CPU time (system, interrupt), as kern.cp_time accounts it: by what runs when a CPU's statistics clock ticks",
		"":        "the kernel's CPU time (system, interrupts, softirq), as /proc/stat or kern.cp_time accounts it: by what runs when a CPU's clock ticks",
	},
}

// interruptTime excludes the kernel's work in system calls and threads: other programs'
// system calls would mask the packets.
var interruptTime = cpuTime{
	of: func(s Sample) (all, ticked float64) { return s.Interrupts, s.InterruptsTicked },
	how: func(k instrument.KernelClock) string {
		_, how := k.How()
		return how + "; packets handled in system calls or threads (threaded NAPI) are not in it"
	},
	accounts: map[string]string{
		"linux": "interrupts and softirqs, as /proc/stat accounts them: by what runs when a CPU's clock ticks, so that work between two ticks is missed or counted as a whole one, " +
			"but by a clock where the kernel has IRQ_TIME_ACCOUNTING; packets handled in system calls or threads (threaded NAPI) are not in it",
		"freebsd": "interrupts and their threads, as kern.cp_time accounts them: by what runs when a CPU's statistics clock ticks; packets handled in system calls or threads of a task queue (drivers on iflib, epair) are not in it",
		"":        "interrupts, softirqs and threads of interrupts, as /proc/stat or kern.cp_time accounts them: by what runs when a CPU's clock ticks; packets handled in system calls or other threads are not in it",
	},
}

// cpuTimes maps the metrics of kernel time to what they count.
var cpuTimes = map[string]cpuTime{
	study.CPUPerPacket: kernelTime, study.CPUPerRequest: kernelTime, study.SoftirqPerPacket: interruptTime,
}

// nanoseconds returns a function that extracts a metric's kernel time from a sample.
func nanoseconds(metric string) func(Sample) float64 {
	of := cpuTimes[metric].of
	return func(s Sample) float64 { all, _ := of(s); return 1e9 * all }
}

// kernelWay returns how the kernel's CPU time is counted, as named in records; "" if
// the study does not need it.
func (o *Options) kernelWay() string {
	switch {
	case !study.CountsKernel(o.Metrics):
		return ""
	case o.Kernel != nil:
		return o.Kernel.Name()
	}
	return instrument.ByTicks
}

// howKernel describes what kernel CPU time a metric counts, and why no better clock is available.
func (o *Options) howKernel(metric string) string {
	t := cpuTimes[metric]
	how, known := t.accounts[strings.ToLower(o.OS)]
	switch {
	case o.Kernel != nil:
		how = t.how(o.Kernel)
	case !known:
		how = t.accounts[""]
	}
	if o.KernelLacks != "" {
		how += " (nothing better: no " + o.KernelLacks + ")"
	}
	return how
}

// WayOf returns how the windows on record counted the kernel's CPU time; "" if there are none. Versions
// that did not record it counted ticks. Ways must not be mixed, because they count different things.
func WayOf(done []Window) string {
	if len(done) == 0 {
		return ""
	}
	if way := done[len(done)-1].KernelTime; way != "" {
		return way
	}
	return instrument.ByTicks
}

// sameWay refuses to continue with another clock than that of the windows on record.
func (o *Options) sameWay() error {
	is := o.kernelWay()
	was := WayOf(o.Done)
	if is == "" || was == "" || was == is {
		return nil
	}
	err := fmt.Errorf("the study counted the kernel's CPU time by %s so far, which is not available now: counting by %s would make it another study", was, is)
	if o.KernelLacks != "" {
		err = fmt.Errorf("%w (%s)", err, o.KernelLacks)
	}
	return hint.With(err, "resume it as it was begun (on the host itself, as root), or begin a new one")
}

// meter replaces the host's own CPU accounts in a sample by more exact ones, along
// with the packets counted at the same moment.
func (l *looker) meter(s *Sample) error {
	s.Kernel, s.Interrupts = math.NaN(), math.NaN() // until they are known
	spent, err := l.kernel.Read()
	if err != nil {
		return err
	}
	text, err := os.ReadFile("/proc/thread-self/net/dev") // of the namespace in which scripts start
	if err != nil {
		return err
	}
	s.Kernel, s.Ticked, s.Packets = spent.All.Seconds(), spent.Ticked.Seconds(), packetsIn(string(text))
	s.Interrupts, s.InterruptsTicked = spent.Interrupts.Seconds(), 0
	return nil
}

// packetsIn returns the number of packets in /proc/net/dev.
func packetsIn(text string) float64 {
	p := parsing{Sample: Sample{DroppedAt: map[string]float64{}}}
	for line := range strings.Lines(text) {
		if name, counted, ok := strings.Cut(line, ":"); ok {
			p.device(append([]string{strings.TrimSpace(name)}, strings.Fields(counted)...))
		}
	}
	return p.Packets
}

// exactness reports the random error of tick-based counting, estimated from the pilot.
func (r *run) exactness(first, last Sample) {
	passed, length := last.Uptime-first.Uptime, r.o.Plan.Window-r.o.Plan.BurnIn
	if first.Boot != last.Boot || !(passed > 0) {
		return
	}
	for i := range r.o.metrics {
		m := &r.o.metrics[i]
		t, ok := cpuTimes[m.Metric]
		if !ok {
			continue
		}
		all, ticked := t.of(last)
		before, tickedBefore := t.of(first)
		all, ticked = (all-before)*length.Seconds()/passed, (ticked-tickedBefore)*length.Seconds()/passed
		if all > 0 && ticked > 0 {
			m.How += fmt.Sprintf("; ticks of %s tell %s of it, which moves it by up to ±%s (95 %%) by chance in what counts of a window (%s)",
				show.Brief(time.Duration(last.Tick*float64(time.Second))), show.WholePercent(100*ticked/all), show.Percent(study.TickError(ticked, all, last.Tick)), show.Brief(length))
		}
	}
}

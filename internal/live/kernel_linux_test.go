package live

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"linerate/internal/hint"
	"linerate/internal/host/localhost"
	"linerate/internal/instrument"
	"linerate/internal/study"
)

// kernel is a fake way to count the kernel's time.
type kernel struct {
	name  string
	spent instrument.KernelTime
	err   error
}

func (k *kernel) Name() string { return k.name }
func (k *kernel) How() (kernel, interrupts string) {
	return "what a test says", "what it says of interrupts"
}
func (k *kernel) Read() (instrument.KernelTime, error) { return k.spent, k.err }
func (k *kernel) Close() error                         { return nil }

func TestAStudyCountsTheKernelsTimeOneWay(t *testing.T) {
	window := func(way string) []Window { return []Window{{Window: study.Window{KernelTime: way}}} }
	for _, c := range []struct {
		name, metric string
		is           instrument.KernelClock
		done         []Window
		refuses      string
	}{
		{"a new one", "cpu-per-packet", &kernel{name: instrument.ByTracepoints}, nil, ""},
		{"the same", "cpu-per-packet", &kernel{name: instrument.ByTracepoints}, window(instrument.ByTracepoints), ""},
		{"tracepoints that no longer exist", "cpu-per-packet", nil, window(instrument.ByTracepoints), "by tracepoints so far"},
		{"a way of an older linerate", "cpu-per-request:/log", &kernel{name: instrument.ByTracepoints}, window("cycles"), "counting by tracepoints would make it another study"},
		{"ticks from before they were named", "cpu-per-packet", nil, window(""), ""},
		{"ticks before, tracepoints now", "cpu-per-packet", &kernel{name: instrument.ByTracepoints}, window(""), "by ticks so far"},
		{"interrupts by another way", "softirq-per-packet", nil, window(instrument.ByTracepoints), "by tracepoints so far"},
		{"a metric that does not need it", "drops", nil, window(instrument.ByTracepoints), ""},
	} {
		o := Options{Metrics: []string{c.metric}, Kernel: c.is, KernelLacks: "tracepoints: none here", Done: c.done, Plan: study.WindowPlan{Window: time.Minute}}
		_, err := o.prepare()
		if (err != nil) != (c.refuses != "") || err != nil && (!strings.Contains(err.Error(), c.refuses) || !strings.Contains(hint.Of(err), "begin a new one")) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestWhichWayIsSaid(t *testing.T) {
	for _, c := range []struct{ metric, os, want string }{
		{"cpu-per-packet", "Linux", "/proc/stat accounts it: by what runs when a CPU's clock ticks, so that work between two ticks is missed or counted as a whole one (nothing better: no tracepoints: none here); over the packets"},
		{"cpu-per-packet", "FreeBSD", "kern.cp_time accounts it"},
		{"cpu-per-packet", "", "/proc/stat or kern.cp_time"},
		{"softirq-per-packet", "linux", "threads (threaded NAPI) are not in it (nothing better: no tracepoints: none here); over the packets"},
		{"softirq-per-packet", "FreeBSD", "interrupts and their threads, as kern.cp_time accounts them"},
		{"softirq-per-packet", "", "threads of interrupts, as /proc/stat or kern.cp_time"},
	} {
		m, err := (&Options{OS: c.os, KernelLacks: "tracepoints: none here"}).ParseMetric(c.metric)
		if err != nil || !strings.Contains(m.How, c.want) {
			t.Errorf("%s, %q: %q, %v", c.metric, c.os, m.How, err)
		}
	}
	interrupts, err := (&Options{OS: "Linux", Kernel: &kernel{}}).ParseMetric("softirq-per-packet")
	if err != nil || !strings.HasPrefix(interrupts.How, "what it says of interrupts; ") {
		t.Errorf("%q, %v", interrupts.How, err)
	}
	m, err := (&Options{OS: "Linux", Kernel: &kernel{}, KernelLacks: "tracepoints: none here"}).ParseMetric("cpu-per-request:/log")
	if err != nil || m.How != "the kernel's CPU time: what a test says (nothing better: no tracepoints: none here); over the lines of the log" {
		t.Errorf("%q, %v", m.How, err)
	}
}

// TestExactness computes the resolution of 10 ms ticks in the 240 s that count of a five-minute window: a
// kernel that uses a tenth of a CPU is seen in 2,400 ticks.
func TestExactness(t *testing.T) {
	for _, c := range []struct{ ticked, want string }{
		{"all", "; ticks of 10 ms tell 100 % of it, which moves it by up to ±4.0 % (95 %) by chance in what counts of a window (240 s)"},
		{"a quarter", "; ticks of 10 ms tell 25 % of it, which moves it by up to ±2.0 % (95 %) by chance in what counts of a window (240 s)"},
		{"nothing", ""},
	} {
		r := &run{o: &Options{Plan: study.WindowPlan{Window: 5 * time.Minute, BurnIn: time.Minute},
			metrics: []Metric{{Watched: study.Watched{Metric: study.DropsPerPacket}}, {Watched: study.Watched{Metric: study.CPUPerPacket}}, {Watched: study.Watched{Metric: study.SoftirqPerPacket}}}}}
		share := map[string]float64{"all": 1, "a quarter": 0.25, "nothing": 0}[c.ticked]
		// For interrupts, a quarter of the kernel's time, ticks show all or nothing.
		interrupts := 0.0
		if share == 1 {
			interrupts = 0.25
		}
		r.exactness(Sample{Boot: "b", Uptime: 100, Kernel: 7, Ticked: 2, Tick: 0.01, Interrupts: 3},
			Sample{Boot: "b", Uptime: 110, Kernel: 8, Ticked: 2 + share, Tick: 0.01, Interrupts: 3.25, InterruptsTicked: interrupts})
		if got := r.o.metrics[1].How; got != c.want || r.o.metrics[0].How != "" {
			t.Errorf("%s: %q, and of drops %q", c.ticked, got, r.o.metrics[0].How)
		}
		if got := r.o.metrics[2].How; strings.Contains(got, "ticks of 10 ms tell 100 % of it, which moves it by up to ±8.0 %") != (share == 1) || (got == "") != (share < 1) {
			t.Errorf("%s: of interrupts %q", c.ticked, got)
		}
	}
}

func TestPacketsIn(t *testing.T) {
	const text = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 1000 10 0 0 0 0 0 0 1000 10 0 0 0 0 0 0
  eth0:123456 1000 0 3 0 0 0 0 654321 2000 0 0 0 0 0 0
 wg0: 1 30 0 0 0 0 0 0 1 4 0 0 0 0 0 0
`
	if got := packetsIn(text); got != 3034 {
		t.Errorf("%g packets", got)
	}
}

// TestCountedKernelTime counts a sample's kernel time, and loses it for a while: unknown time is not zero.
func TestCountedKernelTime(t *testing.T) {
	k := &kernel{spent: instrument.KernelTime{All: 1500 * time.Millisecond, Ticked: time.Second, Interrupts: 500 * time.Millisecond}}
	l := looker{kernel: k, Runner: &localhost.Runner{}}
	s, err := l.look(t.Context())
	if err != nil || s.Kernel != 1.5 || s.Ticked != 1 || s.Interrupts != 0.5 || s.InterruptsTicked != 0 || s.unread != nil {
		t.Fatalf("%+v, %v", s, err)
	}
	k.err = errors.New("no counters left")
	if s, err = l.look(t.Context()); err != nil || !math.IsNaN(s.Kernel) || !math.IsNaN(s.Interrupts) || s.unread == nil {
		t.Fatalf("%+v, %v", s, err)
	}
	_, per, err := sources["cpu-per-packet"](&Options{}, "")
	if err != nil {
		t.Fatal(err)
	}
	logged := (&logged{}).beside(func(s Sample) float64 { return s.Kernel }, ratio).(*besideLog)
	for i, kernel := range []float64{1, 2, math.NaN(), 10, 11} {
		now := Sample{Boot: "b", Kernel: kernel, Packets: float64(100 * i)}
		if _, err := per.Tick(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		logged.count(now)
	}
	if got := per.Value(); got != 1e9*(1+1)/200 || per.Traffic() != 200 {
		t.Errorf("%g ns a packet of %g", got, per.Traffic())
	}
	if got := logged.used; !math.IsNaN(got) { // its requests went on being counted
		t.Errorf("%g s of the kernel's beside the requests", got)
	}
}

package netbenches

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestIntervalsOfBrokenLines: a truncated report keeps its rate but not its packets; lines that only look like
// a report are ignored.
func TestIntervalsOfBrokenLines(t *testing.T) {
	for line, want := range map[string]*Interval{
		"main_thread [1] 5 pps (6 pkts in 7 usec)":       {PPS: 5, Packets: 6, Micros: 7},
		"main_thread [1]\t5 pps (6 pkts in 7 usec)":      {PPS: 5, Packets: 6, Micros: 7},
		"main_thread [1] 5 pps (6 pkts 7 bps":            {PPS: 5, Packets: 6},
		"main_thread [1] 5 pps (6 things in 7 usec)":     {PPS: 5},
		"main_thread [1] 5 pps (x pkts in 7 usec)":       {PPS: 5},
		"main_thread [1] 5 pps":                          {PPS: 5},
		"main_thread [1] 2.5 Gpps (1.5 Gpkts in 7 usec)": {PPS: 2.5e9, Packets: 1_500_000_000, Micros: 7},
		"main_thread [1] 5 Tpps (6 pkts in 7 usec)":      nil,
		"main_thread [1] 5 bps":                          nil,
		"main_thread [1":                                 nil,
		"main_thread [1]":                                nil,
		"main_thread [] ":                                nil,
		"main_thread [1] -5 pps":                         nil,
		"mainthread [1] 5 pps":                           nil,
	} {
		l := ParseLog([]byte("CMD\n" + line))
		if want == nil {
			if len(l.Intervals) != 0 {
				t.Errorf("%q was read as %+v", line, l.Intervals)
			}
			continue
		}
		want.Line = 2
		if len(l.Intervals) != 1 || l.Intervals[0] != *want {
			t.Errorf("%q: %+v, want %+v", line, l.Intervals, want)
		}
	}
}

func TestSummaryLines(t *testing.T) {
	for line, want := range map[string]Log{
		"Received 9 packets 540 bytes 3 events 60 bytes each in 1.50 seconds.": {Packets: 9, Seconds: 1.5, Ended: true},
		"Sent 9 packets, 60 bytes each, in 2 seconds.":                         {Packets: 9, Seconds: 2, Ended: true},
		"Sent 9 packets":                    {Packets: 9, Ended: true},
		"Sent 9 packets in ":                {Packets: 9, Ended: true},
		"Sent -9 packets in 1 seconds":      {},
		"Sent 99999999999999999999 packets": {},
		"Sent 9 bytes in 1 seconds":         {},
		"Received nothing.":                 {},
		"Sent ":                             {},
		"Terminated: 15":                    {Ended: true},
	} {
		l := ParseLog([]byte(line + "\n"))
		if l.Packets != want.Packets || l.Seconds != want.Seconds || l.Ended != want.Ended {
			t.Errorf("%q: %d packets in %g s, %v; want %+v", line, l.Packets, l.Seconds, l.Ended, want)
		}
	}
	// The command is taken from the first line only; later lines that look like one are ignored.
	l := ParseLog([]byte("\nCMD on x: pkt-gen\n"))
	if l.Command != "" || l.Lines != 2 {
		t.Errorf("%+v", l)
	}
	if l := ParseLog([]byte("CMD on x\n")); l.Command != "" {
		t.Errorf("%+v", l)
	}
	if l := ParseLog([]byte("ouch, thread 3 lost\n")); !slices.Equal(l.Faults, []string{"ouch, thread 3 lost"}) {
		t.Errorf("faults %q", l.Faults)
	}
}

// seconds returns intervals of one second each.
func seconds(packets ...uint64) []Interval {
	out := make([]Interval, len(packets))
	for i, p := range packets {
		out[i] = Interval{PPS: float64(p), Packets: p, Micros: 1_000_000}
	}
	return out
}

// TestSteadyNeedsSeven: five seconds settle and two drain, so the eighth is the first that counts.
func TestSteadyNeedsSeven(t *testing.T) {
	for n, rows := range map[int]int{0: 0, 6: 0, 7: 0, 8: 1, 12: 5} {
		l := Log{Intervals: seconds(slices.Repeat([]uint64{100}, n)...)}
		pps, drift, ok := l.Steady()
		if ok != (rows > 0) || ok && (pps != 100 || drift != 0) {
			t.Errorf("%d seconds: %g, %g, %v; want %d rows", n, pps, drift, ok, rows)
		}
	}
	silent := Log{Intervals: seconds(0, 0, 0, 0, 0, 0, 0, 0, 0)}
	if s, _, ok := silent.Steady(); ok {
		t.Errorf("an empty log has a steady rate: %g", s)
	}
	timeless := Log{Intervals: slices.Repeat([]Interval{{PPS: 1, Packets: 1}}, 20)}
	if s, _, ok := timeless.Steady(); ok {
		t.Errorf("packets in zero time have a rate: %g", s)
	}
}

func TestEquilibriumNumbers(t *testing.T) {
	for text, want := range map[string]float64{"x = 5 Mb/s": 5, "a=1 b=2.5Mb/s": 2.5, "none": 0, "= -3": 0, "=": 0, "= 1.2.3": 0} {
		if got := ParseEquilibrium([]byte("Estimated equilibrium " + text)).Estimate; got != want {
			t.Errorf("%q: %g, want %g", text, got, want)
		}
	}
	// Numbers before the first iteration are ignored.
	e := ParseEquilibrium([]byte("CMD on r1: equilibrium -4 -u\nOffering load = 9 Mb/s\nMeasured forwarding rate = 9 Mb/s\nIteration 1\n"))
	if e.Done || e.Frame != 0 {
		t.Errorf("%+v", e)
	}
	if e := ParseEquilibrium([]byte("Estimated Equilibrium throughput unknown")); e.Done || e.Estimate != 0 {
		t.Errorf("no number is an estimate: %+v", e)
	}
	for text, want := range map[string]bool{
		"CMD: equilibrium -4\n": true, "CMD: pkt-gen\nequilibrium\n": false, "x\nBenchmark tool using equilibrium throughput method": true,
		strings.Repeat("x", 600) + "equilibrium throughput method": false, "": false,
	} {
		if got := IsEquilibrium([]byte(text)); got != want {
			t.Errorf("%.60q: %v", text, got)
		}
	}
}

// readingOf returns a reading with a constant rate, as of a receiver or a sender.
func readingOf(pps float64) *Reading {
	return &Reading{File: &File{Path: "log"}, Script: pps, Upper: pps + 1, Usable: pps > 0, Settled: pps > 0, Steady: pps}
}

// TestJudge: the gates that a trial passes, and its flags.
func TestJudge(t *testing.T) {
	faulty, drifting, empty := readingOf(5), readingOf(500), readingOf(0)
	faulty.Faults, drifting.Drift, empty.Empty = []string{"ouch"}, -0.02, true
	summed := &Reading{File: &File{}, Log: Log{Packets: 3000, Seconds: 3}}
	settled := &Reading{File: &File{}, Settled: true, Steady: 2000}
	for name, c := range map[string]struct {
		it      Iteration
		reasons string
		flags   string
		metrics map[string]float64
	}{
		"good":              {Iteration{Receivers: []*Reading{readingOf(500)}, Senders: []*Reading{readingOf(1000)}}, "", "", map[string]float64{MetricRate: 500, MetricOffered: 1000, MetricLoss: 0.5, MetricSteady: 500}},
		"two senders":       {Iteration{Receivers: []*Reading{readingOf(500)}, Senders: []*Reading{readingOf(1000), readingOf(1000)}}, "", "", map[string]float64{MetricOffered: 2000, MetricLoss: 0.75}},
		"generator-bound":   {Iteration{Receivers: []*Reading{readingOf(990)}, Senders: []*Reading{readingOf(1000)}}, "", FlagGenerator, map[string]float64{MetricLoss: 0.01}},
		"not quite":         {Iteration{Receivers: []*Reading{readingOf(989)}, Senders: []*Reading{readingOf(1000)}}, "", "", nil},
		"more than sent":    {Iteration{Receivers: []*Reading{readingOf(1006)}, Senders: []*Reading{readingOf(1000)}}, "", FlagGenerator + " " + FlagWire, map[string]float64{MetricLoss: 0}},
		"no sender":         {Iteration{Receivers: []*Reading{readingOf(500)}}, "", FlagNoSender, map[string]float64{MetricRate: 500}},
		"silent sender":     {Iteration{Receivers: []*Reading{readingOf(500)}, Senders: []*Reading{readingOf(0)}}, "", FlagNoSender, nil},
		"sender's summary":  {Iteration{Receivers: []*Reading{readingOf(500)}, Senders: []*Reading{summed}}, "", "", map[string]float64{MetricOffered: 1000}},
		"sender's steady":   {Iteration{Receivers: []*Reading{readingOf(500)}, Senders: []*Reading{settled}}, "", "", map[string]float64{MetricOffered: 2000}},
		"drift":             {Iteration{Receivers: []*Reading{drifting}, Senders: []*Reading{readingOf(1000)}}, "", FlagDrift, map[string]float64{MetricDrift: -0.02}},
		"no receiver":       {Iteration{Senders: []*Reading{readingOf(1000)}}, "no receiver log", "", nil},
		"empty receiver":    {Iteration{Receivers: []*Reading{empty}, Senders: []*Reading{readingOf(1000)}}, "the receiver's log is empty", "", map[string]float64{MetricOffered: 1000}},
		"unusable receiver": {Iteration{Receivers: []*Reading{readingOf(0)}, Senders: []*Reading{readingOf(1000)}}, "no usable row", "", nil},
		"fault":             {Iteration{Receivers: []*Reading{readingOf(5)}, Senders: []*Reading{faulty}}, "log: ouch", FlagGenerator, nil},
		"equilibrium":       {Iteration{Equilibrium: &Equilibrium{Done: true, Estimate: 105, Maximum: 106}}, "", "", map[string]float64{MetricEquilibrium: 105, MetricMaximum: 106}},
		"search cut off":    {Iteration{Equilibrium: &Equilibrium{Estimate: 105}}, "without an estimate", "", nil},
	} {
		j := c.it.Judge()
		if j.Valid != (c.reasons == "") || !strings.Contains(strings.Join(j.Reasons, "; "), c.reasons) {
			t.Errorf("%s: valid %v, reasons %q; want %q", name, j.Valid, j.Reasons, c.reasons)
		}
		if got := strings.Join(j.Flags, " "); got != c.flags {
			t.Errorf("%s: flags %q, want %q", name, got, c.flags)
		}
		for metric, want := range c.metrics {
			if got, ok := j.Metrics[metric]; !ok || !(math.Abs(got-want) <= 1e-9) {
				t.Errorf("%s: %s is %g, %v; want %g", name, metric, got, ok, want)
			}
		}
		if _, ok := j.Metrics[MetricLoss]; ok && j.Metrics[MetricOffered] == 0 {
			t.Errorf("%s: has a loss although nothing was offered", name)
		}
	}
}

// TestRangeSizes: addresses times ports, 1 for an invalid or impossible range.
func TestRangeSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"198.18.10.1":                        1,
		"198.18.10.1-198.18.10.1":            1,
		"198.18.10.1-198.18.10.20":           20,
		"198.18.10.1:2000-198.18.10.20:2009": 200,
		"198.18.10.1:2000-198.18.10.20":      20,
		"198.18.10.1:2009-198.18.10.20:2000": 20,
		"198.18.10.20-198.18.10.1":           1,
		"198.18.10.1-[2001:2::1]":            1,
		"[2001:2::1]-[2001:2::ff]":           255,
		"[2001:2::1]:5-[2001:2::2]:6":        4,
		"[::]-[ffff::]":                      1,
		"[2001:2::]-[2001:2::1:0:0]":         1<<32 + 1,
		"[2001:2::]-[2001:2::1:0:1]":         1,
		"a-b":                                1,
		"[2001:2::1-[2001:2::2]":             2,
		"-":                                  1,
		"":                                   1,
	} {
		if got := rangeSize(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// TestDrift compares non-overlapping ends, by time.
func TestDrift(t *testing.T) {
	for name, c := range map[string]struct {
		n           int
		first, last uint64
		want        float64
	}{
		"steady": {40, 100, 100, 0}, "rising": {40, 100, 102, 0.02}, "falling": {40, 100, 50, -0.5}, "barely": {20, 100, 150, 0.5}, "too short": {19, 100, 150, 0},
	} {
		// Five seconds settle and two drain.
		iv := slices.Concat(slices.Repeat([]uint64{c.first}, 5+c.n/2), slices.Repeat([]uint64{c.last}, c.n-c.n/2+2))
		l := Log{Intervals: seconds(iv...)}
		if _, got, ok := l.Steady(); !ok || !(math.Abs(got-c.want) <= 1e-12) {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
}

// TestScriptRowsByLine: the script counts the file's lines, whatever they contain.
func TestScriptRowsByLine(t *testing.T) {
	iv := func(line int, pps float64) Interval { return Interval{Line: line, PPS: pps} }
	l := Log{Lines: 30, Intervals: []Interval{iv(15, 1), iv(16, 2), iv(17, 0.5), iv(18, 0), iv(20, 4), iv(21, 5)}}
	if mean, upper, ok := l.ScriptMedian(); !ok || mean != 3 || upper != 4 {
		t.Errorf("%g, %g, %v: want the medians of lines 16 and 20, those at 1 pps and more", mean, upper, ok)
	}
}

package sshbed

import (
	"context"
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/freebsd"
	"linerate/internal/fact/linux"
	"linerate/internal/testbed"
)

var _ testbed.Telemeter = (*Bed)(nil)

// Telemetry reads the DUT's counters and sensors.
func (b *Bed) Telemetry(ctx context.Context) (testbed.Telemetry, error) {
	if b.o.DUT == nil {
		return testbed.Telemetry{}, nil
	}
	out, err := ask(ctx, b.dut(), nil, append([]string{"telemetry"}, append(b.devices("ingress"), b.devices("egress")...)...)...)
	if err != nil {
		return testbed.Telemetry{}, err
	}
	return parseTelemetry(out), nil
}

// ticks is the unit of CPU time as both systems count it for programs:
// USER_HZ on Linux, stathz on FreeBSD (127 or 128).
const ticks = "ticks"

// parseTelemetry parses the sections printed by bed.sh. It ignores unknown
// lines.
func parseTelemetry(text string) testbed.Telemetry {
	t := testbed.Telemetry{Counters: map[string]float64{}, Gauges: map[string]float64{}}
	for section := range strings.SplitSeq("\n"+text, "\n== ") {
		title, body, _ := strings.Cut(section, "\n")
		kind, of, _ := strings.Cut(title, " ")
		if add := facts[kind]; add != nil {
			var f fact.Facts
			add(&f, body)
			for _, c := range f.Counters {
				t.Counters[c.Name] += float64(c.Value)
			}
		}
		for line := range strings.Lines(body) {
			if f := strings.Fields(line); len(f) > 0 && lines[kind] != nil {
				lines[kind](&t, of, f)
			}
		}
	}
	return t
}

// facts parses the sections that are also facts of a host, with the same names.
var facts = map[string]func(*fact.Facts, string){
	"softnet": linux.AddSoftnet, "netstat-I": freebsd.AddNetstatI, "netstat-Q": freebsd.AddNetstatQ, "netstat-m": freebsd.AddNetstatM,
	"vmstat-i": func(f *fact.Facts, text string) {
		for _, i := range freebsd.ParseVmstatI(text) {
			f.AddCounter("interrupts."+i.Name, i.Total, "vmstat -i")
		}
	},
}

// lines parses the other sections, line by line.
var lines = map[string]func(t *testbed.Telemetry, of string, f []string){
	"statistics": func(t *testbed.Telemetry, of string, f []string) { count(t, of+"."+f[0], last(f)) },
	"ethtool-S":  ethtoolLine,
	"stat":       statLine,
	"cpu":        cpuLine,
	"cp_times":   cpTimesLine,
}

func last(f []string) string { return f[len(f)-1] }

func count(t *testbed.Telemetry, name, value string) {
	if v, err := strconv.ParseFloat(value, 64); err == nil {
		t.Counters[name] += v
	}
}

func ethtoolLine(t *testbed.Telemetry, of string, f []string) {
	if name, ok := strings.CutSuffix(strings.Join(f[:len(f)-1], "_"), ":"); ok {
		count(t, of+".ethtool."+name, last(f))
	}
}

// statLine records the CPU times in proc(5)'s cpuN lines.
func statLine(t *testbed.Telemetry, _ string, f []string) {
	for i, name := range []string{"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"} {
		if i+1 < len(f) {
			count(t, f[0]+"."+name+"_"+ticks, f[i+1])
		}
	}
}

// cpuLine records temperatures in °C and clock rates in MHz.
func cpuLine(t *testbed.Telemetry, _ string, f []string) {
	value := strings.TrimSuffix(last(f), "C")
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return
	}
	name := strings.TrimSuffix(f[0], ":")
	switch {
	case strings.HasPrefix(name, "thermal_zone"):
		t.Gauges[name+"_celsius"] = v / 1000
	case strings.HasSuffix(name, ".temperature"):
		t.Gauges[strings.TrimSuffix(name, ".temperature")+"_celsius"] = v
	case strings.HasSuffix(name, ".freq"):
		t.Gauges[strings.TrimSuffix(name, ".freq")+"_mhz"] = v
	case strings.HasPrefix(name, "cpu"):
		t.Gauges[name+"_mhz"] = v / 1000
	}
}

// cpTimesLine records kern.cp_times: five numbers per CPU (CPUSTATES).
func cpTimesLine(t *testbed.Telemetry, _ string, f []string) {
	states := []string{"user", "nice", "system", "interrupt", "idle"}
	for i, v := range f {
		count(t, "cpu"+strconv.Itoa(i/len(states))+"."+states[i%len(states)]+"_"+ticks, v)
	}
}

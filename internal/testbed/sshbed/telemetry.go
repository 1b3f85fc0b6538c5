package sshbed

import (
	"context"
	"strconv"
	"strings"

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

// ticks of CPU time a second, as both systems count them for programs:
// USER_HZ of Linux, stathz of FreeBSD (127 or 128).
const ticks = "ticks"

// parseTelemetry reads bed.sh's sections. A line that it does not know is not
// a counter.
func parseTelemetry(text string) testbed.Telemetry {
	t := testbed.Telemetry{Counters: map[string]float64{}, Gauges: map[string]float64{}}
	section, of := "", ""
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) > 1 && f[0] == "==" {
			section, of = f[1], strings.Join(f[2:], " ")
			continue
		}
		if parse := sections[section]; parse != nil && len(f) > 0 {
			parse(&t, of, f)
		}
	}
	return t
}

var sections = map[string]func(t *testbed.Telemetry, of string, f []string){
	"statistics": func(t *testbed.Telemetry, of string, f []string) { count(t, of+"."+f[0], last(f)) },
	"ethtool-S":  ethtoolLine,
	"softnet":    softnetLine,
	"stat":       statLine,
	"cpu":        cpuLine,
	"netstat-I":  netstatILine,
	"netstat-Q":  netstatQLine,
	"netstat-m":  netstatMLine,
	"vmstat-i":   vmstatILine,
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

// softnetLine sums what of each CPU tells: columns 1 to 3 of softnet_stat are
// processed, dropped and squeezed, in hex (net/core/net-procfs.c).
func softnetLine(t *testbed.Telemetry, _ string, f []string) {
	for i, name := range []string{"softnet.processed", "softnet.dropped", "softnet.time_squeeze"} {
		if i < len(f) {
			if v, err := strconv.ParseUint(f[i], 16, 64); err == nil {
				t.Counters[name] += float64(v)
			}
		}
	}
}

// statLine keeps the CPU times of proc(5)'s cpuN lines.
func statLine(t *testbed.Telemetry, _ string, f []string) {
	for i, name := range []string{"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"} {
		if i+1 < len(f) {
			count(t, f[0]+"."+name+"_"+ticks, f[i+1])
		}
	}
}

// cpuLine keeps temperatures in °C and clocks in MHz.
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

// netstatILine keeps the link row of netstat -I IF -bdnW: from its end Drop,
// Coll, Obytes, Oerrs, Opkts, Ibytes, Idrop, Ierrs, Ipkts.
func netstatILine(t *testbed.Telemetry, of string, f []string) {
	if len(f) < 12 || !strings.HasPrefix(f[2], "<Link") {
		return
	}
	for i, name := range []string{"drop", "collisions", "obytes", "oerrs", "opkts", "ibytes", "idrop", "ierrs", "ipkts"} {
		count(t, of+"."+name, f[len(f)-1-i])
	}
}

// netstatQLine sums netisr's drops and packets over the CPUs, by protocol: the
// workstream rows are ID CPU Name Len WMark Disp'd HDisp'd QDrops Queued
// Handled.
func netstatQLine(t *testbed.Telemetry, _ string, f []string) {
	if len(f) != 10 || f[0] == "WSID" {
		return
	}
	count(t, "netisr."+f[2]+".qdrops", f[7])
	count(t, "netisr."+f[2]+".handled", f[9])
}

// netstatMLine keeps what was denied and delayed.
func netstatMLine(t *testbed.Telemetry, _ string, f []string) {
	text := strings.Join(f, " ")
	what := ""
	switch {
	case strings.Contains(text, "denied"):
		what = "denied"
	case strings.Contains(text, "delayed"):
		what = "delayed"
	default:
		return
	}
	for part := range strings.SplitSeq(f[0], "/") {
		count(t, "mbuf."+what, part)
	}
}

// vmstatILine keeps an interrupt's total: NAME… TOTAL RATE.
func vmstatILine(t *testbed.Telemetry, _ string, f []string) {
	if len(f) < 3 || f[0] == "interrupt" {
		return
	}
	count(t, "interrupts."+strings.Join(f[:len(f)-2], " "), f[len(f)-2])
}

// cpTimesLine keeps kern.cp_times: five numbers a CPU (CPUSTATES).
func cpTimesLine(t *testbed.Telemetry, _ string, f []string) {
	states := []string{"user", "nice", "system", "interrupt", "idle"}
	for i, v := range f {
		count(t, "cpu"+strconv.Itoa(i/len(states))+"."+states[i%len(states)]+"_"+ticks, v)
	}
}

package linux

import (
	"strings"

	"linerate/internal/fact"
	"linerate/internal/list"
)

// ParseFeatures reads `ethtool -k`: the features that are on.
func ParseFeatures(text string) (on []string) {
	on = []string{}
	for _, line := range fact.Lines(text) {
		if name, state, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && strings.HasPrefix(state, "on") {
			on = append(on, name)
		}
	}
	return on
}

// current returns the numbers after "Current hardware settings:", and those
// before it, the greatest that the driver takes.
func current(text string) (now, most map[string]int) {
	before, rest, ok := strings.Cut(text, "Current hardware settings:")
	if !ok {
		return nil, nil
	}
	numbers := func(text string) map[string]int {
		values := map[string]int{}
		for _, line := range fact.Lines(text) {
			if name, value, ok := strings.Cut(line, ":"); ok {
				values[strings.TrimSpace(name)] = fact.Int(value)
			}
		}
		return values
	}
	return numbers(rest), numbers(before)
}

// AddRings reads `ethtool -g`.
func AddRings(n *fact.NIC, text string) {
	v, most := current(text)
	n.RXDescriptors, n.TXDescriptors, n.MaxRXDescriptors = v["RX"], v["TX"], most["RX"]
}

// AddChannels reads `ethtool -l`.
func AddChannels(n *fact.NIC, text string) {
	v, most := current(text)
	n.MaxQueues = max(most["Combined"], most["RX"])
	if v["Combined"] > 0 || v["RX"] > 0 {
		n.RXQueues, n.TXQueues = v["Combined"]+v["RX"], v["Combined"]+v["TX"]
	}
}

// AddPause reads `ethtool -a`.
func AddPause(n *fact.NIC, text string) {
	rx, tx, seen := false, false, false
	for _, line := range fact.Lines(text) {
		name, value, _ := strings.Cut(line, ":")
		on := strings.TrimSpace(value) == "on"
		switch name {
		case "RX":
			rx, seen = on, true
		case "TX":
			tx = on
		}
	}
	if seen {
		n.FlowControl = fact.FlowControl(rx, tx)
	}
}

// driverDrops are words of drivers' own counters that mean loss, and the counter's name.
var driverDrops = list.Table(countersText, "driver")

// allowance ends counters of what a provider held back, beyond what the instance may have.
const allowance = "_allowance_exceeded"

// AddDriverCounters reads `ethtool -S`.
func AddDriverCounters(f *fact.Facts, nic, text string) {
	sum := map[string]uint64{}
	for _, line := range fact.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		if strings.HasSuffix(name, allowance) { // of ENA
			sum[name] += fact.Number(value)
		}
		for _, d := range driverDrops {
			if word := d[0]; name == word || strings.HasPrefix(name, word+"[") || strings.HasPrefix(name, word+"_") && !strings.HasSuffix(word, "phy") {
				sum[d[1]] += fact.Number(value)
				break
			}
		}
	}
	for name, v := range sum {
		f.MaxCounter("nic."+nic+"."+name, v, "ethtool -S "+nic) // /sys may count the same frames
	}
}

// Uevent reads a uevent file of sysfs: KEY=value lines.
func Uevent(text string) map[string]string {
	values := map[string]string{}
	for _, line := range fact.Lines(text) {
		if k, v, ok := strings.Cut(line, "="); ok {
			values[k] = v
		}
	}
	return values
}

package linux

import (
	"strings"

	"linerate/internal/fact"
	"linerate/internal/list"
)

// ParseFeatures parses `ethtool -k` and returns the enabled features.
func ParseFeatures(text string) (on []string) {
	on = []string{}
	for _, line := range fact.Lines(text) {
		if name, state, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && strings.HasPrefix(state, "on") {
			on = append(on, name)
		}
	}
	return on
}

// current returns the numbers after "Current hardware settings:", and the driver's maxima before
// it.
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

// AddRings parses `ethtool -g`.
func AddRings(n *fact.NIC, text string) {
	v, most := current(text)
	n.RXDescriptors, n.TXDescriptors, n.MaxRXDescriptors = v["RX"], v["TX"], most["RX"]
}

// AddChannels parses `ethtool -l`.
func AddChannels(n *fact.NIC, text string) {
	v, most := current(text)
	n.MaxQueues = max(most["Combined"], most["RX"])
	if v["Combined"] > 0 || v["RX"] > 0 {
		n.RXQueues, n.TXQueues = v["Combined"]+v["RX"], v["Combined"]+v["TX"]
	}
}

// AddPause parses `ethtool -a`.
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

// driverDrops maps words in drivers' own counters of losses to counter names.
var driverDrops = list.Table(countersText, "driver")

// allowance is the suffix of counters of packets that a cloud provider held back beyond the instance's limit.
const allowance = "_allowance_exceeded"

// AddDriverCounters parses `ethtool -S`.
func AddDriverCounters(f *fact.Facts, nic, text string) {
	sum := map[string]uint64{}
	for _, line := range fact.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		if strings.HasSuffix(name, allowance) { // ENA
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

// Uevent parses a uevent file of sysfs: KEY=value lines.
func Uevent(text string) map[string]string {
	values := map[string]string{}
	for _, line := range fact.Lines(text) {
		if k, v, ok := strings.Cut(line, "="); ok {
			values[k] = v
		}
	}
	return values
}

package linux

import (
	"strings"

	"linerate/internal/fact"
)

// ParseFeatures reads `ethtool -k`: the features that are on.
func ParseFeatures(text string) (on []string) {
	on = []string{}
	for _, line := range splitLines(text) {
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
		for _, line := range splitLines(text) {
			if name, value, ok := strings.Cut(line, ":"); ok {
				values[strings.TrimSpace(name)] = atoi(value)
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
	for _, line := range splitLines(text) {
		name, value, _ := strings.Cut(line, ":")
		on := strings.TrimSpace(value) == "on"
		switch name {
		case "RX":
			rx, seen = on, true
		case "TX":
			tx = on
		}
	}
	switch {
	case !seen:
	case rx && tx:
		n.FlowControl = "full"
	case rx:
		n.FlowControl = "rx"
	case tx:
		n.FlowControl = "tx"
	default:
		n.FlowControl = "none"
	}
}

// driverDrops are words of drivers' own counters that mean loss.
var driverDrops = []struct{ word, name string }{
	{"rx_out_of_buffer", "rx_no_buffer"}, {"rx_no_buffer", "rx_no_buffer"}, {"rx_no_dma_resources", "rx_no_buffer"},
	{"rx_missed", "rx_missed"}, {"port.rx_discards", "rx_discards"}, {"rx_discards_phy", "rx_discards"}, {"rx_crc_errors", "crc_errors"}, {"rx_crc_errors_phy", "crc_errors"},
	{"rx_long_length_errors", "rx_oversize"}, {"rx_oversize", "rx_oversize"}, {"rx_oversize_pkts_phy", "rx_oversize"}, {"port.rx_oversize", "rx_oversize"},
	{"tx_flow_control_xoff", "xoff_sent"}, {"rx_flow_control_xoff", "xoff_received"}, {"tx_pause_ctrl_phy", "xoff_sent"}, {"rx_pause_ctrl_phy", "xoff_received"},
	{"alloc_rx_buff_failed", "mbuf_alloc_failures"}, {"rx_drops", "input_drops"}, {"tx_timeout", "watchdog_timeouts"},
	// gVNIC and MANA (drivers/net/ethernet/google/gve/gve_ethtool.c, microsoft/mana/mana_ethtool.c), which have no
	// counter of what a ceiling held back.
	{"rx_no_buffers_posted", "rx_no_buffer"}, {"rx_queue_drop_cnt", "rx_discards"}, {"hc_rx_discards_no_wqe", "rx_missed"},
	{"hc_rx_pkt_drop_phy", "provider_drops"}, {"hc_tx_pkt_drop_phy", "provider_drops"},
}

// allowance ends counters of what a provider held back, beyond what the instance may have.
const allowance = "_allowance_exceeded"

// AddDriverCounters reads `ethtool -S`.
func AddDriverCounters(f *fact.Facts, nic, text string) {
	sum := map[string]uint64{}
	for _, line := range splitLines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		if strings.HasSuffix(name, allowance) { // of ENA
			sum[name] += number(value)
		}
		for _, d := range driverDrops {
			if name == d.word || strings.HasPrefix(name, d.word+"[") || strings.HasPrefix(name, d.word+"_") && !strings.HasSuffix(d.word, "phy") {
				sum[d.name] += number(value)
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
	for _, line := range splitLines(text) {
		if k, v, ok := strings.Cut(line, "="); ok {
			values[k] = v
		}
	}
	return values
}

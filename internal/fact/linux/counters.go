package linux

import (
	"fmt"
	"strconv"
	"strings"

	"linerate/internal/fact"
)

// AddSoftnet reads /proc/net/softnet_stat: a row of hexadecimal columns per
// CPU (net/core/net-procfs.c): processed, dropped, time_squeeze; the last
// but two says which CPU since 5.10.
func AddSoftnet(f *fact.Facts, text string) {
	for i, line := range splitLines(text) {
		w := strings.Fields(line)
		if len(w) < 3 {
			continue
		}
		cpu := uint64(i)
		if len(w) >= 13 {
			cpu = hex(w[12])
		}
		for at, name := range []string{"processed", "dropped", "time_squeeze"} {
			f.AddCounter(fmt.Sprintf("softnet.cpu%d.%s", cpu, name), hex(w[at]), "/proc/net/softnet_stat")
		}
		if len(w) >= 11 {
			f.AddCounter(fmt.Sprintf("softnet.cpu%d.flow_limit", cpu), hex(w[10]), "/proc/net/softnet_stat")
		}
	}
}

func hex(s string) uint64 {
	n, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		return 0
	}
	return n
}

// snmpNames are the counters kept of /proc/net/snmp, netstat and snmp6.
var snmpNames = map[string]string{
	"Ip.InReceives": "ip.received", "Ip.ForwDatagrams": "ip.forwarded", "Ip.InDelivers": "ip.delivered", "Ip.OutRequests": "ip.sent",
	"Ip.OutNoRoutes": "ip.no_route", "Ip.OutDiscards": "ip.no_buffers", "Ip.InDiscards": "ip.input_discards",
	"Ip.InHdrErrors": "ip.header_errors", "Ip.InAddrErrors": "ip.address_errors", "IpExt.InCsumErrors": "ip.checksum_errors", "IpExt.InTruncatedPkts": "ip.truncated",
	"Ip.ReasmFails": "ip.fragments_dropped", "Ip.FragFails": "ip.cannot_fragment", "IpExt.InNoRoutes": "ip.input_no_route",
	"Tcp.RetransSegs": "tcp.retransmitted_packets", "Tcp.InSegs": "tcp.packets_received", "Tcp.OutSegs": "tcp.packets_sent",
	"TcpExt.ListenOverflows": "tcp.listen_overflows", "TcpExt.ListenDrops": "tcp.listen_drops", "TcpExt.TCPBacklogDrop": "tcp.backlog_drops",
	"TcpExt.TCPRcvQDrop": "tcp.receive_queue_drops", "TcpExt.TCPReqQFullDrop": "tcp.syncache.dropped", "TcpExt.SyncookiesSent": "tcp.cookies_sent",
	"TcpExt.TCPTimeouts": "tcp.retransmit_timeouts", "TcpExt.PruneCalled": "tcp.pruned", "TcpExt.TCPZeroWindowDrop": "tcp.zero_window_drops",
	"TcpExt.TCPMemoryPressures": "tcp.memory_pressures", "TcpExt.TCPAbortOnMemory": "tcp.aborts_on_memory", "TcpExt.TCPTimeWaitOverflow": "tcp.time_wait_overflows",
	"TcpExt.IPReversePathFilter": "ip.reverse_path_drops", "TcpExt.TCPOFODrop": "tcp.out_of_order_drops",
	"Udp.InDatagrams": "udp.datagrams_received", "Udp.NoPorts": "udp.no_socket", "Udp.RcvbufErrors": "udp.full_sockets", "Udp.SndbufErrors": "udp.send_buffer_errors",
	"Ip6InReceives": "ip6.received", "Ip6OutForwDatagrams": "ip6.forwarded", "Ip6InDelivers": "ip6.delivered", "Ip6OutRequests": "ip6.sent",
	"Ip6InHdrErrors": "ip6.header_errors", "Ip6InAddrErrors": "ip6.address_errors", "Ip6InTooBigErrors": "ip6.too_big", "Ip6InNoRoutes": "ip6.input_no_route",
	"Ip6OutNoRoutes": "ip6.no_route", "Ip6OutDiscards": "ip6.no_buffers", "Ip6ReasmFails": "ip6.fragments_dropped", "Udp6RcvbufErrors": "udp6.full_sockets",
}

// AddSNMP reads /proc/net/snmp or /proc/net/netstat: pairs of lines, names
// then numbers.
func AddSNMP(f *fact.Facts, source, text string) {
	lines := splitLines(text)
	for i := 0; i+1 < len(lines); i += 2 {
		group, head, ok := strings.Cut(lines[i], ":")
		same, row, ok2 := strings.Cut(lines[i+1], ":")
		if !ok || !ok2 || group != same {
			continue
		}
		names, values := strings.Fields(head), strings.Fields(row)
		for j := range min(len(names), len(values)) {
			if name := snmpNames[group+"."+names[j]]; name != "" {
				f.AddCounter(name, number(values[j]), source)
			}
		}
	}
}

// AddSNMP6 reads /proc/net/snmp6: a name and a number a line.
func AddSNMP6(f *fact.Facts, text string) {
	for _, line := range splitLines(text) {
		if w := strings.Fields(line); len(w) == 2 && snmpNames[w[0]] != "" {
			f.AddCounter(snmpNames[w[0]], number(w[1]), "/proc/net/snmp6")
		}
	}
}

// conntrackNames are the columns kept of /proc/net/stat/nf_conntrack.
var conntrackNames = map[string]string{"drop": "conntrack.drop", "early_drop": "conntrack.early_drop", "insert_failed": "conntrack.insert_failed",
	"invalid": "conntrack.invalid", "search_restart": "conntrack.search_restart", "chainlength": "conntrack.chain_too_long", "found": "conntrack.found"}

// AddConntrack reads /proc/net/stat/nf_conntrack: hexadecimal, a row per CPU.
func AddConntrack(f *fact.Facts, text string) {
	lines := splitLines(text)
	if len(lines) < 2 {
		return
	}
	names := strings.Fields(lines[0])
	for _, line := range lines[1:] {
		for j, v := range strings.Fields(line) {
			if j < len(names) && conntrackNames[names[j]] != "" {
				f.AddCounter(conntrackNames[names[j]], hex(v), "/proc/net/stat/nf_conntrack")
			}
		}
	}
}

// LinkCounters are the files of /sys/class/net/*/statistics that are kept.
var LinkCounters = map[string]string{"rx_packets": "input_packets", "tx_packets": "output_packets", "rx_bytes": "input_bytes", "tx_bytes": "output_bytes",
	"rx_errors": "input_errors", "tx_errors": "output_errors", "rx_dropped": "input_drops", "tx_dropped": "output_drops", "collisions": "collisions",
	"rx_missed_errors": "rx_missed", "rx_fifo_errors": "rx_overruns", "rx_over_errors": "rx_overflow", "rx_crc_errors": "crc_errors", "rx_nohandler": "no_handler"}

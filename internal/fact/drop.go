package fact

import "strings"

// Drop is a counter that shows loss, and where on a packet's way it happens.
type Drop struct {
	// Where is the place: NIC, driver, netisr, firewall, IP, socket, …
	Where string `json:"where"`
	// Counter is the Counter's name.
	Counter string `json:"counter"`
	Value   uint64 `json:"value"`
	// Meaning says in one line what the kernel counts there.
	Meaning string `json:"meaning"`
}

// dropPlaces lists the counters that show loss in the order in which a
// packet meets them; a star stands for one name between dots.
var dropPlaces = []struct{ pattern, where, meaning string }{
	{"nic.*.rx_missed", "NIC", "frames the NIC lost because its FIFO was full: the host did not fetch them in time"},
	{"nic.*.rx_overflow", "NIC", "frames the NIC lost because its FIFO was full: the host did not fetch them in time"},
	{"nic.*.rx_overruns", "NIC", "frames the NIC lost because its FIFO was full: the host did not fetch them in time"},
	{"nic.*.rx_truncated", "NIC", "frames the NIC cut because its FIFO was full"},
	{"nic.*.rx_no_buffer", "NIC", "frames that found no free descriptor in the receive ring"},
	{"nic.*.rx_discards", "NIC", "frames the NIC discarded"},
	{"nic.*.crc_errors", "NIC", "frames damaged on the wire: cable, optics or duplex"},
	{"nic.*.rx_oversize", "NIC", "frames longer than the interface's MTU allows"},
	{"nic.*.rx_errors", "NIC", "frames received with errors"},
	{"nic.*.xoff_received", "NIC", "pause frames received: the peer told this host to stop sending"},
	{"nic.*.xoff_sent", "NIC", "pause frames sent: this host told its peer to stop sending"},
	{"nic.*.watchdog_timeouts", "NIC", "times the transmitter hung and was reset"},
	{"nic.*.input_errors", "NIC", "input errors as the interface counts them"},
	{"nic.*.input_drops", "driver", "frames received and dropped before the protocols saw them"},
	{"nic.*.mbuf_alloc_failures", "driver", "times the driver got no buffer"},
	{"mbuf.denied.*", "memory", "requests for network buffers that were refused"},
	{"softnet.*.dropped", "softnet", "packets that found the per-CPU backlog full"},
	{"softnet.*.time_squeeze", "softnet", "times a CPU ran out of its budget with packets left"},
	{"netisr.*.queue_drops", "netisr", "packets that found a netisr queue full"},
	{"pf.counter.*", "pf", "packets that pf dropped for this reason"},
	{"pf.limit.*", "pf", "times a limit of pf was hit"},
	{"conntrack.drop", "conntrack", "packets dropped because no entry could be made"},
	{"conntrack.early_drop", "conntrack", "entries thrown out to make room: the table is full"},
	{"conntrack.insert_failed", "conntrack", "entries that could not be inserted"},
	{"arp.no_entry", "link layer", "packets dropped while the neighbour's address was not known"},
	{"neigh.*.unresolved_discards", "link layer", "packets dropped while the neighbour's address was not known"},
	{"neigh.*.table_fulls", "link layer", "times a neighbour found no place in the table"},
	{"ip.reverse_path_drops", "IP", "packets from a source that is not reached through their interface (rp_filter)"},
	{"ip.input_discards", "IP", "packets dropped on input for lack of memory"},
	{"ip.input_no_route", "IP", "packets received for which there is no route"},
	{"ip6.input_no_route", "IP", "packets received for which there is no route"},
	{"ip6.too_big", "IP", "packets too big for the next link"},
	{"ip.no_route", "IP", "packets without a route"},
	{"ip6.no_route", "IP", "packets without a route"},
	{"ip.not_forwardable", "IP", "packets that could not be forwarded"},
	{"ip.no_buffers", "IP", "packets dropped on output: no buffers, or the send queue was full"},
	{"ip6.no_buffers", "IP", "packets dropped on output: no buffers, or the send queue was full"},
	{"ip.fragments_dropped", "IP", "fragments dropped: duplicates, or reassembly had no space"},
	{"ip6.fragments_dropped", "IP", "fragments dropped: duplicates, or reassembly had no space"},
	{"ip6.fragments_over_limit", "IP", "fragments beyond the limit"},
	{"ip.cannot_fragment", "IP", "packets too big for the next link that forbid fragmentation"},
	{"ipsec.no_memory", "IPsec", "packets dropped for lack of memory"},
	{"tcp.listen_overflows", "socket", "connections refused because a listening socket's queue was full"},
	{"tcp.listen_drops", "socket", "connection requests dropped by a listening socket"},
	{"tcp.syncache.*", "TCP", "connection requests that the syncache dropped"},
	{"tcp.reassembly_full", "TCP", "segments dropped because a reassembly queue was full"},
	{"tcp.backlog_drops", "socket", "segments dropped because a socket's backlog was full"},
	{"tcp.receive_queue_drops", "socket", "segments dropped because the receiving socket's buffer was full"},
	{"tcp.zero_window_drops", "socket", "segments dropped because the receive window was closed"},
	{"tcp.out_of_order_drops", "socket", "segments out of order dropped because the receiving socket's buffer was full"},
	{"udp.full_sockets", "socket", "datagrams dropped because the receiving socket's buffer was full"},
	{"udp6.full_sockets", "socket", "datagrams dropped because the receiving socket's buffer was full"},
	{"udp.send_buffer_errors", "socket", "datagrams that found the sending socket's buffer full"},
	{"qdisc.*.drops", "output queue", "packets that the queue discipline dropped"},
	{"nic.*.output_drops", "output queue", "packets that found the interface's send queue full"},
	{"nic.*.output_errors", "output", "packets the interface could not send"},
	{"zone.*.failures", "memory", "allocations from this zone that failed"},
	{"zone.*.sleeps", "memory", "times an allocation had to wait: the zone was at its limit"},
}

// notLoss are counters under those patterns that count no loss: what pf
// matched, and the allocator's own caches, which may fail and do without.
var notLoss = map[string]bool{"pf.counter.match": true, "zone.vmem_btag.failures": true}

// Drops lists the counters that show loss and are not zero, in the order in
// which a packet meets their places.
func (f *Facts) Drops() []Drop {
	drops := []Drop{}
	for _, p := range dropPlaces {
		for _, c := range f.Counters {
			harmless := notLoss[c.Name] || strings.HasPrefix(c.Name, "zone.") && strings.Contains(c.Name, "_Bucket.")
			if c.Value > 0 && !harmless && matches(p.pattern, c.Name) {
				drops = append(drops, Drop{Where: p.where, Counter: c.Name, Value: c.Value, Meaning: p.meaning})
			}
		}
	}
	return drops
}

// matches compares a counter's name with a pattern. An interface's name may
// hold a dot (igb0.100), so a star is what stands between the fixed parts.
func matches(pattern, name string) bool {
	before, after, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	return len(name) > len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after)
}

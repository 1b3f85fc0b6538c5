package drop

import (
	"cmp"
	"slices"
	"strings"
)

// AttributeReasons is Attribute with the kernel's drop reasons in addition to the counters:
// packets freed in the DUT by reason, without SKB_DROP_REASON_
// (include/net/dropreason-core.h). Where both cover a place, the larger count is taken:
// they count the same frames.
func AttributeReasons(offered, delivered, lostInReceiver uint64, counted, reasons Counters) Account {
	return attribute(offered, delivered, lostInReceiver, counted, reasons)
}

// reasonPlaces says where a reason belongs. Those not here, but for unsaid
// ones, are Other.
var reasonPlaces = map[string]Place{
	"NETFILTER_DROP": Firewall, "XDP": Firewall, "SOCKET_FILTER": Firewall, "TC_INGRESS": Firewall, "TC_EGRESS": Firewall, "BPF_CGROUP_EGRESS": Firewall,
	"IP_INNOROUTES": Route, "IP_OUTNOROUTES": Route, "IP6_BAD_EXTHDR": Other, "IP_RPFILTER": Route, "IP_LOCAL_SOURCE": Route, "IP_INVALID_SOURCE": Route,
	"IP_INVALID_DEST": Route, "IP_LOCALNET": Route, "INVALID_PROTO": Other, "IP_INADDRERRORS": Route,
	"NEIGH_CREATEFAIL": Route, "NEIGH_FAILED": Route, "NEIGH_QUEUEFULL": Route, "NEIGH_DEAD": Route, "NEIGH_HH_FILLFAIL": Route,
	"UNICAST_IN_L2_MULTICAST": Route, "OTHERHOST": Route, "IP_INHDR": TTL,
	"IP_CSUM": Checksum, "UDP_CSUM": Checksum, "TCP_CSUM": Checksum, "ICMP_CSUM": Checksum, "SKB_CSUM": Checksum,
	"CPU_BACKLOG": Backlog, "FULL_RING": EgressQueue, "QDISC_DROP": Qdisc, "QDISC_OVERLIMIT": Qdisc, "QDISC_CONGESTED": Qdisc,
	"CAKE_FLOOD": Qdisc, "FQ_BAND_LIMIT": Qdisc, "FQ_HORIZON_LIMIT": Qdisc, "FQ_FLOW_LIMIT": Qdisc,
	"NO_SOCKET": Local, "SOCKET_RCVBUFF": Local, "PROTO_MEM": Local, "IP_NOPROTO": Local,
}

// unsaid reasons tell that a packet was freed and not why: counters know better.
var unsaid = map[string]bool{"NOT_SPECIFIED": true, "NOT_DROPPED_YET": true, "SKB_CONSUMED": true}

// Silent begins the name of a reason that the kernel did not give: what
// follows is the function that freed the packet.
const Silent = "in "

// functionPlaces says where packets die that a function frees without a word.
var functionPlaces = map[string]Place{
	"ip_error": Route, "ip6_pkt_discard": Route, "dst_discard": Route, "dst_discard_out": Route, "dst_blackhole": Route,
	"ip_rcv_finish_core": Route, "ip_rcv_finish": Route, "ip_forward": Route, "ip6_forward": Route,
	"veth_xmit": EgressQueue, "nf_hook_slow": Firewall, "enqueue_to_backlog": Backlog, "netif_rx_internal": Backlog,
	"__dev_queue_xmit": EgressQueue, "__dev_xmit_skb": Qdisc, "kfree_skb_list_reason": Qdisc,
}

// PlaceOf is the place of a kernel's reason; false when it says nothing.
func PlaceOf(reason string) (Place, bool) {
	if unsaid[reason] {
		return Unknown, false
	}
	if p, ok := reasonPlaces[reason]; ok {
		return p, true
	}
	if function, silent := strings.CutPrefix(reason, Silent); silent {
		p, ok := functionPlaces[function]
		return cmp.Or(p, Unknown), ok
	}
	return Other, true
}

// ReasonName shortens the enumerator's name that BTF gives.
func ReasonName(enumerator string) string {
	return strings.TrimPrefix(strings.TrimPrefix(enumerator, "SKB_DROP_REASON_"), "SKB_")
}

// byReason puts the kernel's reasons in the place of counters that know of
// fewer frames.
func byReason(causes map[Place][]Cause, reasons Counters) {
	said := map[Place][]Cause{}
	for name, n := range reasons {
		if p, ok := PlaceOf(name); ok && n > 0 {
			said[p] = append(said[p], Cause{Name: name, Meaning: "as the kernel names its reason", Frames: n})
		}
	}
	// Netfilter drops what connection tracking refuses.
	tracked := sum(causes[Conntrack])
	for i := range said[Firewall] {
		if c := &said[Firewall][i]; c.Name == "NETFILTER_DROP" {
			c.Frames -= min(c.Frames, tracked)
		}
	}
	for p, by := range said {
		slices.SortFunc(by, func(a, b Cause) int { return cmp.Compare(a.Name, b.Name) })
		if sum(by) > sum(causes[p]) {
			causes[p] = by
		}
	}
}

func sum(causes []Cause) (n uint64) {
	for _, c := range causes {
		n += c.Frames
	}
	return n
}

package calc

const (
	guide = "Calomel guide, April 2021"
	mib   = 1 << 20
)

var bdp = &Calculator{
	Name: "bdp", Aliases: []string{"bandwidth-delay"},
	Summary: "bandwidth-delay product, and the socket buffer it needs",
	Inputs: []Input{linkInput,
		{Name: "rtt", Unit: Seconds, Default: "10ms", Doc: "round-trip time"}},
	Sources: []string{"RFC 1072 §1", "RFC 7323", "FreeBSD sys/kern/uipc_sockbuf.c (sb_max_adj)"},
	Notes: []Note{{Who: guide, Says: "100 Mb/s at 10 ms and 1 Gb/s at 1 ms are both 125 000 bytes", Truth: "right"},
		{Who: guide, Says: "10 Gb/s wants kern.ipc.maxsockbuf of 16 MB, 40 Gb/s of 150 MB, 100 Gb/s of 600 MB", Wrong: true,
			Truth: "a link alone asks for nothing: those are the products at round trips of 12, 28 and 44 ms (8/9 usable); give yours"}},
	Vectors: []Vector{
		{In: map[string]string{"link": "100M", "rtt": "10ms"}, Want: map[string]float64{"bdp": 125000}, From: guide},
		{In: map[string]string{"link": "1G", "rtt": "1ms"}, Want: map[string]float64{"bdp": 125000, "maxsockbuf": 140625, "wscale": 2}, From: guide},
		{In: map[string]string{"link": "10G", "rtt": "100ms"}, Want: map[string]float64{"bdp": 125e6, "maxsockbuf": 140625000, "wscale": 12}, From: "arithmetic"},
	},
	run: func(in map[string]float64) ([]Output, error) {
		v := BDP(in["link"], in["rtt"])
		buf := SockbufFor(v)
		return []Output{
			num("bdp", v, Bytes, "link · rtt / 8: bytes in flight on a full link"),
			num("segments", v/MSS(1500), Count, "the same in segments of 1460 bytes"),
			num("maxsockbuf", buf, Bytes, "kern.ipc.maxsockbuf that lets one socket reserve it (8 of 9 bytes are data's)"),
			num("wscale", WindowScale(buf), Count, "window scale that such a maxsockbuf announces"),
			num("link_without_scaling", tcpMaxWin*8/in["rtt"], BitsPerSecond, "most that a window of 65535 bytes carries at this rtt"),
		}, nil
	},
}

var window = &Calculator{
	Name: "window", Aliases: []string{"wscale", "maxsockbuf"},
	Summary: "window scale and usable buffer of a kern.ipc.maxsockbuf",
	Inputs:  []Input{{Name: "maxsockbuf", Unit: Bytes, Default: "2MiB", Doc: "kern.ipc.maxsockbuf"}},
	Sources: []string{"RFC 7323 §2.2–2.3", "FreeBSD sys/netinet/tcp_syncache.c (syncache_add)", "FreeBSD sys/kern/uipc_sockbuf.c (sb_max_adj)"},
	Notes: []Note{
		{Who: guide, Says: "2 MB gives scale 6 and 4 MB in flight, 4 MB scale 7, 16 MB scale 9, 150 MB scale 12, 600 MB scale 14", Truth: "the scales are right"},
		{Who: guide, Says: "so much is in flight before an acknowledgement is required", Wrong: true, Truth: "the scale is only what the window field can express; a socket never gets more than 8/9 of maxsockbuf, so scale 9 from 16 MiB means at most 14.9 MB, not 32"},
		{Who: guide, Says: "2^12·65KB = 260MB, 2^14·65KB = 1064MB", Wrong: true, Truth: "2^12·65535 = 268 431 360 and 2^14·65535 = 1 073 725 440 bytes"},
	},
	Vectors: []Vector{
		{In: map[string]string{"maxsockbuf": "2097152"}, Want: map[string]float64{"wscale": 6, "max_window": 4194240, "usable": 1864135}, From: guide},
		{In: map[string]string{"maxsockbuf": "4194304"}, Want: map[string]float64{"wscale": 7}, From: guide},
		{In: map[string]string{"maxsockbuf": "16777216"}, Want: map[string]float64{"wscale": 9}, From: guide},
		{In: map[string]string{"maxsockbuf": "157286400"}, Want: map[string]float64{"wscale": 12}, From: guide},
		{In: map[string]string{"maxsockbuf": "614400000"}, Want: map[string]float64{"wscale": 14, "max_window": 1073725440}, From: guide},
	},
	run: func(in map[string]float64) ([]Output, error) {
		s := WindowScale(in["maxsockbuf"])
		return []Output{
			num("wscale", s, Count, "shift announced in the SYN"),
			num("max_window", ScaledWindow(s), Bytes, "65535 << wscale: most the window field can say"),
			num("usable", UsableSockbuf(in["maxsockbuf"]), Bytes, "most one socket can reserve: 2048 of every 2304 bytes"),
			num("link_at_10ms", UsableSockbuf(in["maxsockbuf"])*8/0.01, BitsPerSecond, "rate that fills at 10 ms round trip"),
		}, nil
	},
	table: func(map[string]float64) *Table {
		t := &Table{Columns: []string{"maxsockbuf", "wscale", "window field", "usable", "at 10 ms", "at 100 ms"}}
		for _, v := range []float64{2 * mib, 4 * mib, 8 * mib, 16 * mib, 32 * mib, 64 * mib, 150 * mib, 614400000} {
			u := UsableSockbuf(v)
			t.Rows = append(t.Rows, []string{Format(v, Bytes), Format(WindowScale(v), Count), Format(ScaledWindow(WindowScale(v)), Bytes),
				Format(u, Bytes), Format(u*8/0.01, BitsPerSecond), Format(u*8/0.1, BitsPerSecond)})
		}
		return t
	},
}

var mss = &Calculator{
	Name: "mss", Summary: "segment sizes of an MTU and what they carry",
	Inputs:  []Input{{Name: "mtu", Unit: Bytes, Default: "1500B", Doc: "interface or path MTU"}},
	Sources: []string{"RFC 6691", "RFC 7323 appendix A", "IEEE 802.3"},
	Notes: []Note{
		{Who: guide, Says: "MSS 1460 carries 1448 bytes: 95.64 % of a 1514-byte frame", Truth: "right without FCS, preamble and gap; 94.15 % of link time with them"},
		{Who: guide, Says: "MSS 1240 is 94.89 % efficient", Truth: "94.90 % (1228/1294); 93.17 % of link time"},
		{Who: guide, Says: "minmss 536 is 90.9 % efficient, the default 216 84 %", Wrong: true, Truth: "both divide by the IP packet, and the second leaves the timestamps out: with frames as in its other figures 88.8 % (524/590) and 75.6 % (204/270)"},
		{Who: guide, Says: "tcp.mssdflt sets the MSS", Wrong: true, Truth: "it is used only when the peer sends no MSS option; otherwise the MSS follows from the route's MTU"},
	},
	Vectors: []Vector{
		{In: map[string]string{"mtu": "1500"}, Want: map[string]float64{"mss": 1460, "payload": 1448, "frame_efficiency": 95.64, "wire_efficiency": 94.15}, Tolerance: 1e-4, From: guide},
		{In: map[string]string{"mtu": "1280"}, Want: map[string]float64{"mss": 1240, "payload": 1228, "frame_efficiency": 94.9, "mss_ipv6": 1220}, Tolerance: 1e-4, From: guide},
		{In: map[string]string{"mtu": "576"}, Want: map[string]float64{"mss": 536, "payload": 524}, From: guide},
	},
	run: func(in map[string]float64) ([]Output, error) {
		m := MSS(in["mtu"])
		if m <= timestamps {
			return nil, tooSmall("mtu", in["mtu"], "68 bytes or more")
		}
		return []Output{
			num("mss", m, Bytes, "IPv4: MTU − 20 − 20"),
			num("mss_ipv6", MSS6(in["mtu"]), Bytes, "IPv6: MTU − 40 − 20"),
			num("payload", SegmentPayload(m), Bytes, "per IPv4 segment with timestamps"),
			num("frame_efficiency", 100*SegmentPayload(m)/(in["mtu"]+ethHeader), Percent, "payload of the frame without FCS, as the guide counts"),
			num("wire_efficiency", SegmentEfficiency(m), Percent, "payload of the link time: FCS, preamble and gap counted"),
		}, nil
	},
}

var initcwnd = &Calculator{
	Name: "initcwnd", Aliases: []string{"abc", "slow-start"},
	Summary: "initial window, abc_l_var, and the round trips slow start takes",
	Inputs: []Input{
		{Name: "segments", Unit: Count, Default: "10", Doc: "net.inet.tcp.initcwnd_segments"},
		{Name: "mss", Unit: Bytes, Default: "1460B", Doc: "segment size of the connection"},
		{Name: "abc", Unit: Count, Default: "2", Doc: "net.inet.tcp.abc_l_var"},
		{Name: "size", Unit: Bytes, Default: "100kB", Doc: "bytes to send"},
		linkInput},
	Sources: []string{"RFC 6928", "RFC 3465 §2.2–2.3", "FreeBSD sys/netinet/tcp_input.c (tcp_compute_initwnd)", "FreeBSD sys/netinet/cc/cc_newreno.c (newreno_ack_received)"},
	Notes: []Note{
		{Who: guide, Says: "44 segments are 65535 bytes", Wrong: true, Truth: "44·1460 = 64 240; with timestamps 63 712 bytes of data; 65535 takes 45"},
		{Who: guide, Says: "abc_l_var 44 lets slow start grow by more than 64 kilobytes per step", Wrong: true,
			Truth: "L limits one acknowledgement's credit. It helps only when one ACK covers more than L segments (LRO, lost ACKs); with an ACK per two segments 44 grows no faster than 2, and after lost ACKs it releases a burst of L segments"},
	},
	Vectors: []Vector{
		{In: map[string]string{"segments": "44", "mss": "1460"}, Want: map[string]float64{"initial_window": 64240, "guide_segments": 44}, From: guide},
		{In: map[string]string{"segments": "52", "mss": "1240"}, Want: map[string]float64{"initial_window": 64480, "guide_segments": 52}, From: guide},
		{In: map[string]string{"segments": "10", "mss": "1460", "size": "14600B"}, Want: map[string]float64{"initial_window": 14600, "rounds": 1}, From: "RFC 6928"},
		{In: map[string]string{"segments": "10", "mss": "9000"}, Want: map[string]float64{"initial_window": 18000}, From: "RFC 6928: at most max(2·MSS, 14600)"},
	},
	run: func(in map[string]float64) ([]Output, error) {
		if in["mss"] < 1 || in["segments"] < 1 || in["abc"] < 1 || in["size"] < 0 {
			return nil, tooSmall("mss, segments or abc", min(in["mss"], in["segments"], in["abc"]), "1 or more")
		}
		w := InitialWindow(in["segments"], in["mss"])
		return []Output{
			num("initial_window", w, Bytes, "min(n·MSS, max(2·MSS, n·1460))"),
			num("burst_time", w*8/in["link"], Seconds, "how long the first burst occupies the link"),
			num("rounds", SlowStartRounds(in["size"], in["segments"], in["mss"], in["abc"]), Count, "round trips until size is sent, an ACK per two segments, no loss"),
			num("ack_burst", in["abc"]*in["mss"], Bytes, "most that one acknowledgement adds to the window"),
			num("guide_segments", SegmentsInWindow(in["mss"]), Count, "the guide's rule: whole segments in 65535 bytes"),
		}, nil
	},
}

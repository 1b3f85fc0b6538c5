package calc

// All lists every calculator, in the order help shows them. The slice is
// fresh; the calculators are shared and must not be changed.
func All() []*Calculator {
	return []*Calculator{
		lineRate, imixRate,
		bdp, window, mss, initcwnd,
		mbufs, pfStates, pfSources, ipfwStates, conntrack,
		ifQueue, serving, zfsDirty,
	}
}

// num is an output without a text yet; Run adds it.
func num(name string, v float64, u Unit, doc string) Output {
	return Output{Name: name, Value: v, Unit: u, Doc: doc}
}

// yes reads a 0-or-1 input.
func yes(v float64) bool { return v != 0 }

var linkInput = Input{Name: "link", Unit: BitsPerSecond, Default: "1Gb/s", Doc: "link rate, one direction"}

var lineRate = &Calculator{
	Name: "line-rate", Aliases: []string{"pps", "framerate", "linerate"},
	Summary: "frames per second that a link carries, preamble, gap and FCS counted",
	Inputs: []Input{linkInput,
		{Name: "frame", Unit: Bytes, Default: "64B", Doc: "frame size with its FCS; shorter ones are padded to 64"}},
	Sources: []string{"IEEE 802.3 clauses 3.1.1, 4.2.5, 4.4.2", "RFC 2544 §9, appendix B", "RFC 1242 §3.17"},
	Notes: []Note{
		{Who: "EuroBSDcon 2017 talk (O. Cochard-Labbé)", Says: "gigabit line rate is 1.48 million frames/s, and a router needs about 3 million, both directions counted", Truth: "1 488 095 one way, 2 976 190 full duplex"},
		{Who: "freebsd-current 2004 (D. Gilbert)", Says: "full gigabit rate of 64-byte packets would be 1.9 Mpps", Wrong: true, Truth: "1.953 Mpps is 10⁹/(64·8): preamble and gap are missing; the wire carries 1.488 Mpps"},
	},
	Vectors: []Vector{
		{In: map[string]string{"link": "1G", "frame": "64"}, Want: map[string]float64{"frames": 1488095.238095238, "frames_full_duplex": 2976190.476190476}, From: "talk, 2:30"},
		{In: map[string]string{"link": "10G", "frame": "64"}, Want: map[string]float64{"frames": 14880952.38095238}, From: "RFC 2544 appendix B, scaled"},
		{In: map[string]string{"link": "10M", "frame": "1518"}, Want: map[string]float64{"frames": 812.7438231469441}, From: "RFC 1944: 812 frames/s"},
		{In: map[string]string{"link": "100GbE", "frame": "1518"}, Want: map[string]float64{"frames": 8127438.231469441}, From: "arithmetic"},
	},
	run: func(in map[string]float64) ([]Output, error) {
		link, frame := in["link"], max(in["frame"], minFrame)
		fps := LineRate(link, frame)
		return []Output{
			num("frames", fps, PacketsPerSecond, "one direction: link / 8·(frame + 8 preamble + 12 gap)"),
			num("frames_full_duplex", 2*fps, PacketsPerSecond, "both directions at once, as a router at line rate must forward"),
			num("frame_time", 1/fps, Seconds, "the whole time budget per frame"),
			num("frame_rate", fps*frame*8, BitsPerSecond, "bits of frames, FCS included"),
			num("ip_rate", fps*(frame-ethHeader-fcs)*8, BitsPerSecond, "bits of IP packets"),
			num("efficiency", 100*frame/FrameOnWire(frame), Percent, "frames on the wire, in per cent of link time"),
		}, nil
	},
	table: func(in map[string]float64) *Table {
		t := &Table{Columns: []string{"frame", "frames/s", "full duplex", "frame bits"}}
		for _, frame := range []float64{64, 128, 256, 512, 1024, 1280, 1518, 9018} {
			fps := LineRate(in["link"], frame)
			t.Rows = append(t.Rows, []string{Format(frame, Count), Format(fps, PacketsPerSecond),
				Format(2*fps, PacketsPerSecond), Format(fps*frame*8, BitsPerSecond)})
		}
		return t
	},
}

var imixRate = &Calculator{
	Name: "imix", Aliases: []string{"minimum-pps"},
	Summary: "simple IMIX (7×40, 4×576, 1×1500 byte packets): means, and the packets/s that fill a link",
	Inputs:  []Input{linkInput},
	Sources: []string{"RFC 6985 (IMIX genome)", "IEEE 802.3"},
	Notes: []Note{{Who: "EuroBSDcon 2017 talk", Says: "700 000 packets/s fill a gigabit router in both directions, 7 million a 10-gigabit one", Wrong: true,
		Truth: "Ethernet headers alone are counted there; with FCS, padding, preamble and gap the wire carries 654 736 (6.55 million): the talk's figure asks 8 % too much"}},
	Vectors: []Vector{
		{In: map[string]string{"link": "1G"}, Want: map[string]float64{"mean_packet": 340.3333333333333, "mean_frame": 361.8333333333333, "packets_full_duplex": 654736, "talk_full_duplex": 705550}, Tolerance: 1e-4, From: "talk, 4:00"},
		{In: map[string]string{"link": "10G"}, Want: map[string]float64{"talk_full_duplex": 7.0555e6}, Tolerance: 1e-4, From: "talk, 4:00"},
	},
	run: func(in map[string]float64) ([]Output, error) {
		pps := ImixRate(in["link"])
		return []Output{
			num("mean_packet", ImixPacket(), Bytes, "mean IP packet"),
			num("mean_frame", ImixFrame(), Bytes, "mean frame, padding and FCS included"),
			num("packets", pps, PacketsPerSecond, "packets that fill one direction"),
			num("packets_full_duplex", 2*pps, PacketsPerSecond, "the least a router must forward to fill the link both ways with IMIX"),
			num("ip_rate", pps*ImixPacket()*8, BitsPerSecond, "bits of IP packets, one direction"),
			num("talk_full_duplex", 2*imixTalk(in["link"]), PacketsPerSecond, "the talk's estimate: Ethernet headers only"),
		}, nil
	},
}

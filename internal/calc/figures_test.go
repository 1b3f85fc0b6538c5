package calc_test

import (
	"math"
	"testing"

	"linerate/internal/calc"
)

// TestFigures holds the formulas against figures worked out by hand or printed
// by the kernels they are of.
func TestFigures(t *testing.T) {
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		// RFC 2544 and IEEE 802.3: 64 + 8 + 12 bytes a frame.
		{"64-byte frame on the wire", calc.FrameOnWire(64), 84},
		{"a runt is padded", calc.FrameOnWire(40), 84},
		{"1518-byte frame on the wire", calc.FrameOnWire(1518), 1538},
		{"10 Gb/s of 64 bytes", calc.LineRate(10e9, 64), 10e9 / 8 / 84},
		{"IMIX at 1 Gb/s", calc.ImixRate(1e9), 1e9 / 8 / ((7*84 + 4*614 + 1538) / 12.0)},
		// RFC 7323.
		{"1 Gb/s over 100 ms in flight", calc.BDP(1e9, 0.1), 12.5e6},
		{"no scale for 64 KiB − 1", calc.WindowScale(65535), 0},
		{"a scale for 64 KiB", calc.WindowScale(65536), 1},
		{"2 MiB", calc.WindowScale(2 << 20), 6},
		{"the largest scale", calc.WindowScale(1e18), 14},
		// RFC 6928: ten segments, as 14600 bytes.
		{"initial window of 10", calc.InitialWindow(10, 1460), 14600},
		{"initial window, jumbo", calc.InitialWindow(10, 8960), 17920},
		{"small windows", calc.InitialWindow(2, 536), 1072},
		{"segments in 64 KiB", calc.SegmentsInWindow(1460), 44},
		// 10 + 20 + 40 segments of 1460 bytes carry 100 kB.
		{"rounds for 100 kB", calc.SlowStartRounds(100e3, 10, 1460, 2), 3},
		{"rounds with L = 1", calc.SlowStartRounds(100e3, 10, 1460, 1), 4},
		{"nothing to send", calc.SlowStartRounds(0, 10, 1460, 2), 0},
		// FreeBSD kern_mbuf.c, subr_param.c, tcp_subr.c.
		{"maxmbufmem of 8 GiB", calc.MaxMbufMem(8 << 30), 4 << 30},
		{"clusters of 4 GiB", calc.MbufLimits(4 << 30).Clusters, 524288},
		{"page-sized of 4 GiB", calc.MbufLimits(4 << 30).JumboPage, 262144},
		{"9 KiB of 4 GiB", calc.MbufLimits(4 << 30).Jumbo9, 77672},
		{"16 KiB of 4 GiB", calc.MbufLimits(4 << 30).Jumbo16, 43690},
		{"maxusers of 64 MiB", calc.MaxUsers(16384), 32},
		{"maxusers of 8 GiB", calc.MaxUsers(2 << 20), 384 + math.Floor((4096.0-384)/8)},
		{"maxfiles of 8 GiB", calc.MaxFiles(2 << 20), 262144},
		{"maxfiles of a small host", calc.MaxFiles(1024), 2 * (20 + 16*32)},
		{"tcbhashsize of few sockets", calc.TCBHashSize(100), 512},
		{"tcbhashsize of 262144", calc.TCBHashSize(262144), 131072},
		// Tables of states.
		{"1 M states of pf, translated", calc.PFStateMemory(1e6, 1<<20, 2), 1e6*(352+2*88) + 80*(1<<20)},
		{"pf sources", calc.PFSourceMemory(10, 4), 10*152 + 4*40},
		{"pf tables", calc.PFTableMemory(1000), 160e3},
		{"ipfw buckets of few", calc.IPFWBuckets(10), 512},
		{"ipfw buckets of 16385", calc.IPFWBuckets(16385), 32768},
		{"ipfw states", calc.IPFWMemory(1000, 512), 1000*128 + 512*96},
		{"SYN cache", calc.SyncacheMemory(512, 30), 512 * 30 * 168},
		{"conntrack, plain", calc.ConntrackMemory(1, 1, false), 264},
		{"conntrack, extended", calc.ConntrackMemory(1, 1, true), 392},
		{"conntrack buckets of 8 GiB", calc.ConntrackBuckets(8 << 30), 262144},
		{"of 4 GiB", calc.ConntrackBuckets(4 << 30), 65536},
		{"of 1 GiB", calc.ConntrackBuckets(1 << 30), 8192},
		{"of 64 MiB", calc.ConntrackBuckets(64 << 20), 1024},
		// Threads.
		{"netisr: as many as CPUs", calc.NetisrThreads(-1, 8), 8},
		{"netisr: one", calc.NetisrThreads(0, 8), 1},
		{"netisr: no more than CPUs", calc.NetisrThreads(99, 8), 8},
		{"netisr: nonsense is one", calc.NetisrThreads(-7, 8), 1},
		// ZFS.
		{"dirty_data_max_max of 8 GiB", calc.DirtyMaxMax(8 << 30), 2 << 30},
		{"dirty_data_max_max of 64 GiB", calc.DirtyMaxMax(64 << 30), 4 << 30},
		{"dirty_data_max of 10 GB", calc.DirtyMax(10e9, 4<<30), 1e9},
		{"filled in 5 s", calc.DirtyFill(118e6, 5), 590e6},
	} {
		if !(math.Abs(c.got-c.want) <= 1e-9*math.Abs(c.want)) {
			t.Errorf("%s: %g, want %g", c.what, c.got, c.want)
		}
	}
}

// TestInverses: a window that is asked for can be reserved, and no byte less
// would do.
func TestInverses(t *testing.T) {
	for window := 1.0; window < 1<<31; window = math.Floor(window*1.37) + 1 {
		need := calc.SockbufFor(window)
		if calc.UsableSockbuf(need) < window || calc.UsableSockbuf(need-2) >= window {
			t.Errorf("a window of %g wants %g, of which %g are usable, and %g of two less", window, need, calc.UsableSockbuf(need), calc.UsableSockbuf(need-2))
		}
	}
	for v := 0.3; v < 1e15; v *= 1.7 {
		p := calc.PowerOfTwo(v)
		if p < v && v > 1 || p/2 >= v && p > 1 || p != math.Exp2(math.Round(math.Log2(p))) {
			t.Errorf("the power of two at %g is %g", v, p)
		}
	}
}

// TestMoreTakesMore: a larger host, table or link never has less.
func TestMoreTakesMore(t *testing.T) {
	for name, f := range map[string]func(float64) float64{
		"MaxUsers": calc.MaxUsers, "MaxFiles": calc.MaxFiles, "TCBHashSize": calc.TCBHashSize, "IPFWBuckets": calc.IPFWBuckets, "ConntrackBuckets": calc.ConntrackBuckets,
		"WindowScale": calc.WindowScale, "DirtyMaxMax": calc.DirtyMaxMax, "ImixRate": calc.ImixRate, "clusters": func(v float64) float64 { return calc.MbufLimits(v).Clusters },
		"mbufs": func(v float64) float64 {
			m := calc.MbufLimits(v)
			return m.Mbufs - m.Clusters - m.JumboPage - m.Jumbo9 - m.Jumbo16
		},
		"rounds": func(v float64) float64 { return calc.SlowStartRounds(v, 10, 1460, 2) },
	} {
		last := f(1)
		for v := 1.0; v < 1e13; v *= 1.9 {
			now := f(v)
			if now < last && name != "mbufs" || now < 0 {
				t.Fatalf("%s of %g is %g, after %g", name, v, now, last)
			}
			last = now
		}
	}
}

// TestNegativeInputs: an amount below nothing is refused.
func TestNegativeInputs(t *testing.T) {
	for _, c := range calc.All() {
		for _, in := range c.Inputs {
			_, err := c.Run(map[string]string{in.Name: "-1"})
			if err == nil {
				t.Errorf("%s %s=-1: %v", c.Name, in.Name, err)
			}
		}
	}
}

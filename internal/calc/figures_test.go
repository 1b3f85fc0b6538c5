package calc_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/expr-lang/expr"

	"linerate/internal/calc"
)

// TestFigures holds the formulas against figures worked out by hand or printed
// by the kernels they are of.
func TestFigures(t *testing.T) {
	for _, c := range []struct {
		what, is string
		want     float64
	}{
		// RFC 2544 and IEEE 802.3: 64 + 8 + 12 bytes a frame.
		{"64-byte frame on the wire", "1e9 / 8 / line_rate(1e9, 64)", 84},
		{"a runt is padded", "1e9 / 8 / line_rate(1e9, 40)", 84},
		{"1518-byte frame on the wire", "1e9 / 8 / line_rate(1e9, 1518)", 1538},
		{"10 Gb/s of 64 bytes", "line_rate(10e9, 64)", 10e9 / 8 / 84},
		{"IMIX at 1 Gb/s", "imix_rate(1e9)", 1e9 / 8 / ((7*84 + 4*614 + 1538) / 12.0)},
		// RFC 7323.
		{"1 Gb/s over 100 ms in flight", "bdp(1e9, 0.1)", 12.5e6},
		{"no scale for 64 KiB − 1", "window_scale(65535)", 0},
		{"a scale for 64 KiB", "window_scale(65536)", 1},
		{"2 MiB", "window_scale(2 * 2**20)", 6},
		{"the largest scale", "window_scale(1e18)", 14},
		// RFC 6928: ten segments, as 14600 bytes.
		{"initial window of 10", "initial_window(10, 1460)", 14600},
		{"initial window, jumbo", "initial_window(10, 8960)", 17920},
		{"small windows", "initial_window(2, 536)", 1072},
		{"segments in 64 KiB", "segments_in_window(1460)", 44},
		// 10 + 20 + 40 segments of 1460 bytes carry 100 kB.
		{"rounds for 100 kB", "slow_start_rounds(100e3, 10, 1460, 2)", 3},
		{"rounds with L = 1", "slow_start_rounds(100e3, 10, 1460, 1)", 4},
		{"nothing to send", "slow_start_rounds(0, 10, 1460, 2)", 0},
		// FreeBSD kern_mbuf.c, subr_param.c, tcp_subr.c.
		{"maxmbufmem of 8 GiB", "max_mbuf_mem(8 * 2**30)", 4 << 30},
		{"clusters of 4 GiB", "nmbclusters(4 * 2**30)", 524288},
		{"page-sized of 4 GiB", "nmbjumbop(4 * 2**30)", 262144},
		{"9 KiB of 4 GiB", "nmbjumbo9(4 * 2**30)", 77672},
		{"16 KiB of 4 GiB", "nmbjumbo16(4 * 2**30)", 43690},
		{"maxusers of 64 MiB", "maxusers(16384)", 32},
		{"maxusers of 8 GiB", "maxusers(2 * 2**20)", 384 + math.Floor((4096.0-384)/8)},
		{"maxfiles of 8 GiB", "maxfiles(2 * 2**20)", 262144},
		{"maxfiles of a small host", "maxfiles(1024)", 2 * (20 + 16*32)},
		{"tcbhashsize of few sockets", "tcbhashsize(100)", 512},
		{"tcbhashsize of 262144", "tcbhashsize(262144)", 131072},
		// Tables of states.
		{"1 M states of pf, translated", "pf_state_memory(1e6, 1 * 2**20, 2)", 1e6*(352+2*88) + 80*(1<<20)},
		{"pf sources", "pf_source_memory(10, 4)", 10*152 + 4*40},
		{"pf tables", "pf_table_memory(1000)", 160e3},
		{"ipfw buckets of few", "ipfw_buckets(10)", 512},
		{"ipfw buckets of 16385", "ipfw_buckets(16385)", 32768},
		{"ipfw states", "ipfw_memory(1000, 512)", 1000*128 + 512*96},
		{"SYN cache", "syncache_memory(512, 30)", 512 * 30 * 168},
		{"conntrack, plain", "conntrack_memory(1, 1, 0)", 264},
		{"conntrack, extended", "conntrack_memory(1, 1, 1)", 392},
		{"conntrack buckets of 8 GiB", "conntrack_buckets(8 * 2**30)", 262144},
		{"of 4 GiB", "conntrack_buckets(4 * 2**30)", 65536},
		{"of 1 GiB", "conntrack_buckets(1 * 2**30)", 8192},
		{"of 64 MiB", "conntrack_buckets(64 * 2**20)", 1024},
		// Threads.
		{"netisr: as many as CPUs", "netisr_threads(-1, 8)", 8},
		{"netisr: one", "netisr_threads(0, 8)", 1},
		{"netisr: no more than CPUs", "netisr_threads(99, 8)", 8},
		{"netisr: nonsense is one", "netisr_threads(-7, 8)", 1},
		// ZFS.
		{"dirty_data_max_max of 8 GiB", "dirty_max_max(8 * 2**30)", 2 << 30},
		{"dirty_data_max_max of 64 GiB", "dirty_max_max(64 * 2**30)", 4 << 30},
		{"dirty_data_max of 10 GB", "dirty_max(10e9, 4 * 2**30)", 1e9},
		{"filled in 5 s", "dirty_fill(118e6, 5)", 590e6},
	} {
		if got := value(t, c.is, 0); !(math.Abs(got-c.want) <= 1e-9*math.Abs(c.want)) {
			t.Errorf("%s: %g, want %g", c.what, got, c.want)
		}
	}
}

// value is what an expression of x comes to.
func value(t *testing.T, is string, x float64) float64 {
	t.Helper()
	env := map[string]any{"x": x}
	p, err := expr.Compile(is, append(calc.Options(), expr.Env(env), expr.AsFloat64())...)
	if err != nil {
		t.Fatal(err)
	}
	v, err := expr.Run(p, env)
	if err != nil {
		t.Fatal(err)
	}
	return v.(float64)
}

// TestInverses: a window that is asked for can be reserved, and no byte less
// would do.
func TestInverses(t *testing.T) {
	for window := 1.0; window < 1<<31; window = math.Floor(window*1.37) + 1 {
		need := value(t, "sockbuf_for(x)", window)
		if value(t, "usable_sockbuf(x)", need) < window || value(t, "usable_sockbuf(x - 2)", need) >= window || value(t, "sockbuf_for(x - 1)", window) > need {
			t.Errorf("a window of %g wants %g, of which too much or too little is usable", window, need)
		}
		if scale := value(t, "window_scale(x)", window); window > 65535*math.Exp2(scale) && scale < 14 || scale > 0 && 65535*math.Exp2(scale-1) >= window {
			t.Errorf("a shift of %g for %g bytes", scale, window)
		}
	}
	for v := 0.3; v < 1e15; v *= 1.7 {
		p := value(t, "pow2(x)", v)
		if p < v && v > 1 || p/2 >= v && p > 1 || p != math.Exp2(math.Round(math.Log2(p))) {
			t.Errorf("the power of two at %g is %g", v, p)
		}
	}
	for k := range 60 { // at each border exactly, and just behind it
		p := math.Exp2(float64(k))
		if value(t, "pow2(x)", p) != p || k > 1 && k < 48 && value(t, "pow2(x + 1)", p) != 2*p {
			t.Errorf("the power of two at 2^%d is %g, behind it %g", k, value(t, "pow2(x)", p), value(t, "pow2(x + 1)", p))
		}
		if scale := min(float64(k), 14); value(t, "window_scale(x)", 65535*p) != scale || k < 14 && value(t, "window_scale(x + 1)", 65535*p) != scale+1 {
			t.Errorf("the shift at 65535 << %d is %g", k, value(t, "window_scale(x)", 65535*p))
		}
	}
}

// TestRounds counts the round trips one by one.
func TestRounds(t *testing.T) {
	for _, abc := range []float64{1, 2, 44} {
		for bytes := 1.0; bytes < 1e12; bytes = math.Ceil(bytes * 1.3) {
			rounds, sent, window := 0.0, 0.0, 14600.0
			for ; sent < bytes; rounds++ {
				sent += window
				window *= 1 + min(abc, 2)/2
			}
			if got := value(t, fmt.Sprintf("slow_start_rounds(x, 10, 1460, %g)", abc), bytes); got != rounds {
				t.Errorf("%g bytes by %g segments an acknowledgement: %g rounds, want %g", bytes, abc, got, rounds)
			}
		}
	}
}

// TestMoreTakesMore: a larger host, table or link never has less.
func TestMoreTakesMore(t *testing.T) {
	for _, is := range strings.Fields("maxusers maxfiles tcbhashsize ipfw_buckets conntrack_buckets window_scale dirty_max_max imix_rate nmbclusters nmbufs") {
		last := value(t, is+"(x)", 1)
		for v := 1.0; v < 1e13; v *= 1.9 {
			now := value(t, is+"(x)", v)
			if now < last || now < 0 {
				t.Fatalf("%s of %g is %g, after %g", is, v, now, last)
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

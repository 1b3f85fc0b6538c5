package calc

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
)

// function is one formula as expressions call it: by position, in base
// units. Arguments whose names end in "?" may be left out, and are 0 then.
type function struct {
	name string
	args []string
	// f gets exactly len(args) values.
	f   func(a []float64) float64
	doc string
}

// bool01 answers conditions in the number that expressions compare.
func bool01(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

var functions = []function{
	{"line_rate", []string{"link", "frame"}, func(a []float64) float64 { return LineRate(a[0], a[1]) }, "frames/s of a size (FCS included), one direction"},
	{"imix_rate", []string{"link"}, func(a []float64) float64 { return ImixRate(a[0]) }, "packets/s of simple IMIX, one direction"},
	{"bdp", []string{"link", "rtt"}, func(a []float64) float64 { return BDP(a[0], a[1]) }, "bandwidth-delay product in bytes"},
	{"usable_sockbuf", []string{"maxsockbuf"}, func(a []float64) float64 { return UsableSockbuf(a[0]) }, "bytes one socket can reserve"},
	{"sockbuf_share", []string{"memory", "connections"}, func(a []float64) float64 { return SockbufShare(a[0], a[1]) }, "most of a socket buffer when so many connections, at least ten, share half of memory"},
	{"sockbuf_for", []string{"window"}, func(a []float64) float64 { return SockbufFor(a[0]) }, "maxsockbuf that a window needs"},
	{"window_scale", []string{"maxsockbuf"}, func(a []float64) float64 { return WindowScale(a[0]) }, "window scale that FreeBSD announces"},
	{"slow_start_rounds", []string{"bytes", "segments", "mss", "abc"}, func(a []float64) float64 { return SlowStartRounds(a[0], a[1], a[2], a[3]) }, "round trips of slow start for so many bytes"},
	{"initial_window", []string{"segments", "mss"}, func(a []float64) float64 { return InitialWindow(a[0], a[1]) }, "initial congestion window in bytes"},
	{"segments_in_window", []string{"mss"}, func(a []float64) float64 { return SegmentsInWindow(a[0]) }, "whole segments in 65535 bytes"},
	{"max_mbuf_mem", []string{"memory"}, func(a []float64) float64 { return MaxMbufMem(a[0]) }, "kern.ipc.maxmbufmem"},
	{"nmbclusters", []string{"maxmbufmem"}, func(a []float64) float64 { return MbufLimits(a[0]).Clusters }, "kern.ipc.nmbclusters"},
	{"nmbjumbop", []string{"maxmbufmem"}, func(a []float64) float64 { return MbufLimits(a[0]).JumboPage }, "kern.ipc.nmbjumbop"},
	{"nmbjumbo9", []string{"maxmbufmem"}, func(a []float64) float64 { return MbufLimits(a[0]).Jumbo9 }, "kern.ipc.nmbjumbo9"},
	{"nmbjumbo16", []string{"maxmbufmem"}, func(a []float64) float64 { return MbufLimits(a[0]).Jumbo16 }, "kern.ipc.nmbjumbo16"},
	{"nmbufs", []string{"maxmbufmem"}, func(a []float64) float64 { return MbufLimits(a[0]).Mbufs }, "kern.ipc.nmbufs"},
	{"maxusers", []string{"pages"}, func(a []float64) float64 { return MaxUsers(a[0]) }, "kern.maxusers of physical pages"},
	{"maxfiles", []string{"pages"}, func(a []float64) float64 { return MaxFiles(a[0]) }, "kern.maxfiles of physical pages"},
	{"tcbhashsize", []string{"maxsockets"}, func(a []float64) float64 { return TCBHashSize(a[0]) }, "net.inet.tcp.tcbhashsize"},
	{"pf_state_memory", []string{"states", "hashsize", "keys?"}, func(a []float64) float64 { return PFStateMemory(a[0], a[1], max(1, a[2])) }, "bytes of pf states and hash; keys is 2 with NAT"},
	{"pf_source_memory", []string{"nodes", "hashsize"}, func(a []float64) float64 { return PFSourceMemory(a[0], a[1]) }, "bytes of pf source nodes and hash"},
	{"pf_table_memory", []string{"entries"}, func(a []float64) float64 { return PFTableMemory(a[0]) }, "bytes of pf table entries"},
	{"ipfw_buckets", []string{"states"}, func(a []float64) float64 { return IPFWBuckets(a[0]) }, "dyn_buckets of a dyn_max"},
	{"ipfw_memory", []string{"states", "buckets"}, func(a []float64) float64 { return IPFWMemory(a[0], a[1]) }, "bytes of ipfw dynamic states"},
	{"syncache_memory", []string{"hashsize", "bucketlimit"}, func(a []float64) float64 { return SyncacheMemory(a[0], a[1]) }, "bytes of a full SYN cache"},
	{"conntrack_memory", []string{"entries", "buckets", "extended?"}, func(a []float64) float64 { return ConntrackMemory(a[0], a[1], a[2] != 0) }, "bytes of conntrack; extended with NAT, accounting or events"},
	{"conntrack_buckets", []string{"memory"}, func(a []float64) float64 { return ConntrackBuckets(a[0]) }, "nf_conntrack_buckets of memory"},
	{"netisr_threads", []string{"maxthreads", "ncpu"}, func(a []float64) float64 { return NetisrThreads(a[0], a[1]) }, "threads started"},
	{"dirty_max_max", []string{"memory"}, func(a []float64) float64 { return DirtyMaxMax(a[0]) }, "vfs.zfs.dirty_data_max_max"},
	{"dirty_max", []string{"memory", "max_max"}, func(a []float64) float64 { return DirtyMax(a[0], a[1]) }, "vfs.zfs.dirty_data_max"},
	{"dirty_fill", []string{"rate", "time"}, func(a []float64) float64 { return DirtyFill(a[0], a[1]) }, "bytes that arrive in a time"},
	{"pow2", []string{"n"}, func(a []float64) float64 { return PowerOfTwo(a[0]) }, "smallest power of two at least n"},
}

// Options are the formulas for expr.Compile. They take numbers of any kind and
// numeric strings in base units, and return float64; a wrong number or kind of
// arguments is an error of the expression.
func Options() []expr.Option {
	opts := make([]expr.Option, 0, len(functions))
	for _, f := range functions {
		opts = append(opts, expr.Function(f.name, f.call, new(func(...any) float64)))
	}
	return opts
}

func (f function) call(args ...any) (any, error) {
	most := len(f.args)
	least := most
	for least > 0 && strings.HasSuffix(f.args[least-1], "?") {
		least--
	}
	if len(args) < least || len(args) > most {
		return nil, fmt.Errorf("%s takes %d arguments, not %d", f.name, most, len(args))
	}
	a := make([]float64, most)
	for i, v := range args {
		n, err := toFloat(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", f.name, f.args[i], err)
		}
		a[i] = n
	}
	return f.f(a), nil
}

// toFloat reads any number, or a string that is one.
func toFloat(v any) (float64, error) {
	switch n := v.(type) {
	case float64:
		return n, nil
	case int:
		return float64(n), nil
	case int64:
		return float64(n), nil
	case uint64:
		return float64(n), nil
	case int32:
		return float64(n), nil
	case uint32:
		return float64(n), nil
	case uint:
		return float64(n), nil
	case float32:
		return float64(n), nil
	case bool:
		return bool01(n), nil
	case json.Number:
		return n.Float64()
	case string:
		f, err := strconv.ParseFloat(n, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is not a number", clip(n))
		}
		return f, nil
	default:
		return 0, fmt.Errorf("%T is not a number", v)
	}
}

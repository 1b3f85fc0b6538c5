package calc

import (
	"errors"
	"io"
	"math"

	"linerate/internal/hint"
	"linerate/internal/show"
)

// most of LRO's model: a receive queue has no more.
const (
	mostLROFlows = 1 << 16
	mostLROBatch = 1 << 16
)

var lro = &Calculator{
	Name: "lro", Aliases: []string{"rss-sort", "large-receive-offload"},
	Summary: "packets per aggregation of large receive offload, as they come and sorted by RSS hash",
	Inputs: []Input{
		{Name: "flows", Unit: Count, Default: "500", Doc: "connections that send at once, on one receive queue"},
		{Name: "burst", Unit: Count, Default: "1", Doc: "segments that a connection has in a row"},
		{Name: "batch", Unit: Count, Default: "1024", Doc: "packets between flushes"},
		{Name: "entries", Unit: Count, Default: "8", Doc: "connections merged at a time, unsorted: net.inet.tcp.lro.entries"},
		{Name: "seed", Unit: Count, Default: "1", Doc: "of the order of arrival"},
	},
	Sources: []string{"FreeBSD sys/netinet/tcp_lro.c (tcp_lro_rx, tcp_lro_queue_mbuf, tcp_lro_flush_all)", "Microsoft, RSS Hashing Functions (Toeplitz)", "a simulation: which connection comes next is by chance"},
	Notes: []Note{{Who: "Netflix, Serving 100 Gbps (2017)", Says: "with batches sorted by RSS hash, LRO aggregates more than 2 packets, at well over 90 Gb/s",
		Truth: "so it does while a batch has more than 1.6 packets per connection: batch/flows = x gives about x/(1 − e^−x) of them. Unsorted, with 8 entries, hundreds of connections give 1.0"}},
	Vectors: []Vector{
		{In: map[string]string{"flows": "500", "batch": "1024"}, Want: map[string]float64{"sorted": 2.35, "as_they_come": 1.016}, Tolerance: 0.01, From: "x/(1 − e^−x) at x = 1024/500; unsorted 8 connections of 500 merge"},
		{In: map[string]string{"flows": "640", "batch": "1024"}, Want: map[string]float64{"sorted": 2.005}, Tolerance: 0.02, From: "x/(1 − e^−x) = 2 at x = 1.594"},
		{In: map[string]string{"flows": "1", "batch": "45"}, Want: map[string]float64{"sorted": 45, "as_they_come": 45}, Tolerance: 0.01, From: "65495 bytes hold 45 segments of 1448"},
	},
	run: func(in map[string]float64) ([]Output, error) {
		flows, burst, batch, entries, seed, err := lroInputs(in)
		if err != nil {
			return nil, err
		}
		plain, sorted := PerAggregation(Arrivals(lroPackets(batch), flows, burst, seed), batch, entries)
		return []Output{
			num("as_they_come", plain, Count, "packets per aggregation, passed to LRO as they arrive"),
			num("sorted", sorted, Count, "packets per aggregation, each batch sorted by its hashes first"),
			num("stack_saved", 100*(1-plain/sorted), Percent, "fewer packets for TCP to handle, by sorting"),
			num("pays_from", float64(SortingPaysFrom(batch, entries, burst, seed)), Count, "connections from which sorting gives a tenth more, or better; 0: never"),
			num("two_up_to", float64(MostFlowsSorted(2, batch, burst, seed)), Count, "connections up to which sorted aggregations have more than 2 packets"),
		}, nil
	},
	table: func(in map[string]float64) *Table {
		flows, burst, _, entries, seed, err := lroInputs(in)
		if err != nil {
			return nil
		}
		return LROTable(Arrivals(lroPackets(LROBatches[len(LROBatches)-1]), flows, burst, seed), entries)
	},
}

func lroInputs(in map[string]float64) (flows, burst, batch, entries int, seed uint64, err error) {
	for _, l := range []struct {
		name string
		most float64
	}{{"flows", mostLROFlows}, {"burst", mostLROBatch}, {"batch", mostLROBatch}, {"entries", mostLROFlows}} {
		if v := in[l.name]; v < 1 || v > l.most {
			return 0, 0, 0, 0, 0, hint.Usagef("%s of %s is not between 1 and %s", l.name, show.Trimmed(v, 3), show.Trimmed(l.most, 0))
		}
	}
	if in["seed"] < 0 || in["seed"] > 1<<53 {
		return 0, 0, 0, 0, 0, hint.Usagef("a seed of %s is not between 0 and 2^53", show.Trimmed(in["seed"], 0))
	}
	return int(in["flows"]), int(in["burst"]), int(in["batch"]), int(in["entries"]), uint64(in["seed"]), nil
}

// LROOfCapture is what the calculator lro says of a capture instead of its model. args
// may give batch and entries; the rest is the capture's.
func LROOfCapture(capture io.Reader, args map[string]string) (Result, error) {
	size := map[string]int{"batch": 1024, "entries": 8}
	for name, text := range args {
		if _, ok := size[name]; !ok {
			return Result{}, hint.Usagef("%s comes from the capture", name)
		}
		v, err := Parse(text, Count)
		if err != nil || v < 1 || v > 1<<16 || v != math.Trunc(v) {
			return Result{}, hint.Usagef("%s=%s is not a number from 1 to 65536", name, text)
		}
		size[name] = int(v)
	}
	segments, flows, _, err := ReadSegments(capture)
	if err != nil {
		return Result{}, err
	}
	if len(segments) == 0 {
		return Result{}, errors.New("no TCP segments in it")
	}
	return LROOf(segments, flows, size["batch"], size["entries"]), nil
}

package calc

import (
	"linerate/internal/hint"
	"linerate/internal/show"
)

// tooSmall refuses an input below what the formula means anything for.
func tooSmall(name string, v float64, want string) error {
	return hint.With(hint.Usagef("%s of %s is too small", name, show.Trimmed(v, 3)), "give %s", want)
}

var mbufs = &Calculator{
	Name: "mbufs", Aliases: []string{"nmbclusters"},
	Summary: "FreeBSD's limits of mbufs and clusters, computed at boot from memory",
	Inputs:  []Input{{Name: "memory", Unit: Bytes, Default: "8GiB", Doc: "kernel memory: the smaller of physical memory and vm.kmem_size"}},
	Sources: []string{"FreeBSD sys/kern/kern_mbuf.c (tunable_mbinit)"},
	Notes: []Note{
		{Who: guide, Says: "524288 clusters are 1 GB", Truth: "right: 1 GiB of clusters, not counting the mbufs beside them"},
		{Who: guide, Says: "default 492680 clusters", Wrong: true, Truth: "that is one machine's: the kernel gives an eighth of its memory, and a copied number may lower it"},
	},
	Vectors: []Vector{
		{In: map[string]string{"memory": "2073186304"}, Want: map[string]float64{"maxmbufmem": 1036593152, "nmbclusters": 126537, "nmbjumbop": 63268, "nmbjumbo9": 18746, "nmbjumbo16": 10544, "nmbufs": 809838, "maxfrags": 3954}, From: "a FreeBSD 14.0-STABLE of 2 GiB, sysctl -a"},
	},
	run: func(in map[string]float64) ([]Output, error) {
		m := MaxMbufMem(in["memory"])
		l := MbufLimits(m)
		return []Output{
			num("maxmbufmem", m, Bytes, "half of kernel memory"),
			num("nmbclusters", l.Clusters, Count, "2 KiB clusters: maxmbufmem/2048/4"),
			num("nmbjumbop", l.JumboPage, Count, "page-size clusters: maxmbufmem/4096/4"),
			num("nmbjumbo9", l.Jumbo9, Count, "9 KiB clusters: maxmbufmem/9216/6"),
			num("nmbjumbo16", l.Jumbo16, Count, "16 KiB clusters: maxmbufmem/16384/6"),
			num("nmbufs", l.Mbufs, Count, "mbufs: maxmbufmem/256/5, at least all clusters"),
			num("cluster_memory", l.Clusters*mClBytes, Bytes, "all 2 KiB clusters"),
			num("maxfrags", MaxFrags(l.Clusters), Count, "net.inet.ip.maxfrags: clusters/32"),
		}, nil
	},
}

var pfStates = &Calculator{
	Name: "pf-states", Aliases: []string{"pf", "states"},
	Summary: "memory of pf's state table and its hash",
	Inputs: []Input{
		{Name: "states", Unit: Count, Default: "100000", Doc: "pf.conf: set limit states"},
		{Name: "hashsize", Unit: Count, Default: "131072", Doc: "net.pf.states_hashsize, a power of two"},
		{Name: "keys", Unit: Count, Default: "1", Doc: "keys per state: 1, or 2 where addresses are translated"},
		{Name: "memory", Unit: Bytes, Default: "8GiB", Doc: "the host's memory"},
	},
	Sources: []string{"FreeBSD sys/netpfil/pf/pf.c", "vmstat -z of FreeBSD 14.0 (state 352 B, key 88 B)"},
	Notes: []Note{{Who: "EuroBSDcon 2017 talk", Says: "10 million states, 5 million UDP flows, and 2.5 GB for the hash on a box of 8 GB",
		Truth: "pf makes two states per forwarded flow, one at each interface. 10 million states take 4.4 GB themselves; 2.5 GiB of hash are 2^25 buckets of 80 bytes, more than 3 per state: 2^24, half of it, would do"}},
	Vectors: []Vector{
		{In: map[string]string{"states": "100000", "hashsize": "131072"}, Want: map[string]float64{"hash_memory": 10485760, "state_memory": 44e6}, From: "FreeBSD's defaults"},
		{In: map[string]string{"states": "10000000", "hashsize": "33554432"}, Want: map[string]float64{"hash_memory": 2684354560, "flows": 5e6}, From: "talk, 33:00: 2.5 GB of hash, 10 million states, 5 million flows"},
	},
	run: func(in map[string]float64) ([]Output, error) {
		all := PFStateMemory(in["states"], in["hashsize"], in["keys"])
		hash := PFStateMemory(0, in["hashsize"], 0)
		return []Output{
			num("state_memory", all-hash, Bytes, "when the table is full"),
			num("hash_memory", hash, Bytes, "80 bytes per bucket, taken when pf loads"),
			num("total_memory", all, Bytes, ""),
			num("of_memory", 100*all/in["memory"], Percent, "of the host's memory"),
			num("flows", in["states"]/2, Count, "forwarded flows: a state on each of two interfaces"),
			num("chain", in["states"]/max(in["hashsize"], 1), Count, "states per bucket when full; 1 or less is fast"),
			num("hashsize_wanted", PowerOfTwo(in["states"]), Count, "net.pf.states_hashsize for one state per bucket"),
		}, nil
	},
}

var pfSources = &Calculator{
	Name: "pf-sources", Aliases: []string{"src-nodes"},
	Summary: "memory of pf's source nodes and their hash",
	Inputs: []Input{
		{Name: "nodes", Unit: Count, Default: "10000", Doc: "pf.conf: set limit src-nodes"},
		{Name: "hashsize", Unit: Count, Default: "32768", Doc: "net.pf.source_nodes_hashsize, a power of two"},
	},
	Sources: []string{"FreeBSD sys/netpfil/pf/pf.c", "vmstat -z of FreeBSD 14.0 (source node 152 B)"},
	Notes: []Note{{Who: guide, Says: "source_nodes_hashsize 1048576 for a million sources, because of UDP states", Wrong: true,
		Truth: "source nodes exist only for rules with source-track or sticky-address; without those the hash is 40 MiB of nothing. Ordinary states use net.pf.states_hashsize"}},
	Vectors: []Vector{{In: map[string]string{"nodes": "1000000", "hashsize": "1048576"}, Want: map[string]float64{"hash_memory": 41943040, "node_memory": 152e6}, From: guide}},
	run: func(in map[string]float64) ([]Output, error) {
		all, hash := PFSourceMemory(in["nodes"], in["hashsize"]), PFSourceMemory(0, in["hashsize"])
		return []Output{
			num("node_memory", all-hash, Bytes, "when all nodes are in use"),
			num("hash_memory", hash, Bytes, "40 bytes per bucket, taken when pf loads"),
			num("total_memory", all, Bytes, ""),
			num("chain", in["nodes"]/max(in["hashsize"], 1), Count, "nodes per bucket when full"),
		}, nil
	},
}

var ipfwStates = &Calculator{
	Name: "ipfw-states", Aliases: []string{"ipfw"},
	Summary: "dynamic states of ipfw: buckets and memory",
	Inputs:  []Input{{Name: "states", Unit: Count, Default: "16384", Doc: "net.inet.ip.fw.dyn_max"}},
	Sources: []string{"FreeBSD sys/netpfil/ipfw/ip_fw_dynamic.c (dyn_grow_hashtable, sysctl_dyn_buckets)", "vmstat -z of FreeBSD 14.0"},
	Notes: []Note{{Who: "EuroBSDcon 2017 talk", Says: "with the hash at its largest, 65536 buckets, and the same ratio as by default, ipfw takes 4 million states",
		Truth: "right for FreeBSD 11 (256 buckets for 16384 states: 64 per bucket). Since 12 the hash grows by itself up to dyn_buckets (default 8192), to the power of two above the states"}},
	Vectors: []Vector{
		{In: map[string]string{"states": "16384"}, Want: map[string]float64{"buckets": 16384, "talk_states": 4194304}, From: "talk, 31:00"},
		{In: map[string]string{"states": "4000000"}, Want: map[string]float64{"buckets": 4194304}, From: "arithmetic"},
	},
	run: func(in map[string]float64) ([]Output, error) {
		b := IPFWBuckets(in["states"])
		return []Output{
			num("buckets", b, Count, "net.inet.ip.fw.dyn_buckets for one state per bucket"),
			num("memory", IPFWMemory(in["states"], b), Bytes, "states (IPv4) and hash when full"),
			num("chain_by_default", in["states"]/min(b, 8192), Count, "states per bucket with dyn_buckets at 8192"),
			num("talk_states", 65536*16384/256, Count, "the talk's 65536 buckets at FreeBSD 11's 64 states each"),
		}, nil
	},
}

var conntrack = &Calculator{
	Name: "conntrack", Summary: "memory of Linux's connection tracking table",
	Inputs: []Input{
		{Name: "entries", Unit: Count, Default: "262144", Doc: "net.netfilter.nf_conntrack_max"},
		{Name: "buckets", Unit: Count, Default: "262144", Doc: "net.netfilter.nf_conntrack_buckets"},
		{Name: "memory", Unit: Bytes, Default: "8GiB", Doc: "the host's memory"},
	},
	Sources: []string{"Linux net/netfilter/nf_conntrack_core.c (nf_conntrack_init_start)", "slabinfo of Linux 6.18: nf_conntrack 256 B"},
	Vectors: []Vector{
		{In: map[string]string{"entries": "262144", "buckets": "262144", "memory": "24GiB"}, Want: map[string]float64{"total_memory": 69206016, "default_buckets": 262144}, From: "Linux 6.18, 24 GiB"},
		{In: map[string]string{"memory": "2GiB"}, Want: map[string]float64{"default_buckets": 65536}, From: "nf_conntrack_core.c"},
	},
	run: func(in map[string]float64) ([]Output, error) {
		all := ConntrackMemory(in["entries"], in["buckets"], false)
		return []Output{
			num("total_memory", all, Bytes, "entries without extensions, and hash"),
			num("extended_memory", ConntrackMemory(in["entries"], in["buckets"], true), Bytes, "with what NAT, accounting, timestamps or events add: 128 bytes each"),
			num("of_memory", 100*all/in["memory"], Percent, "of the host's memory"),
			num("chain", 2*in["entries"]/max(in["buckets"], 1), Count, "entries per bucket when full: each connection is hashed in both directions"),
			num("default_buckets", ConntrackBuckets(in["memory"]), Count, "what Linux 5.15 and later choose, and nf_conntrack_max with it"),
		}, nil
	},
}

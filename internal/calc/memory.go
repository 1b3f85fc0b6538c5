package calc

import "math"

// MaxMbufMem is the default of kern.ipc.maxmbufmem in bytes for the memory
// the kernel may use: the smaller of physical memory and vm.kmem_size.
// sys/kern/kern_mbuf.c tunable_mbinit.
func MaxMbufMem(mem float64) float64 { return math.Floor(mem / 2) }

// Mbufs are the limits that FreeBSD computes at boot from maxmbufmem, in
// items. sys/kern/kern_mbuf.c tunable_mbinit; page size 4096.
type Mbufs struct{ Clusters, JumboPage, Jumbo9, Jumbo16, Mbufs float64 }

// MbufLimits computes the defaults of kern.ipc.nmbclusters, nmbjumbop,
// nmbjumbo9, nmbjumbo16 and nmbufs.
func MbufLimits(maxmbufmem float64) Mbufs {
	share := func(size, parts float64) float64 { return math.Floor(math.Floor(maxmbufmem/size) / parts) }
	m := Mbufs{
		Clusters: share(mClBytes, 4), JumboPage: share(4096, 4),
		Jumbo9: share(9*1024, 6), Jumbo16: share(16*1024, 6),
	}
	m.Mbufs = max(share(mSize, 5), m.Clusters+m.JumboPage+m.Jumbo9+m.Jumbo16)
	return m
}

// MaxUsers is the default of kern.maxusers for physical pages
// (sys/kern/subr_param.c init_param2): one per 2 MiB, an eighth of that
// beyond 384.
func MaxUsers(pages float64) float64 {
	u := max(math.Floor(pages/512), 32)
	if u > 384 {
		u = 384 + math.Floor((u-384)/8)
	}
	return u
}

// MaxFiles is the default of kern.maxfiles: an eighth of the physical pages,
// at least 2·(20+16·maxusers). sys/kern/subr_param.c.
func MaxFiles(pages float64) float64 { return max(math.Floor(pages/8), 2*(20+16*MaxUsers(pages))) }

// TCBHashSize is the default of net.inet.tcp.tcbhashsize for
// kern.ipc.maxsockets: a power of two above a quarter of it, at least 512
// (sys/netinet/tcp_subr.c maketcp_hashsize).
func TCBHashSize(maxsockets float64) float64 {
	n := math.Floor(maxsockets / 4)
	return max(512, math.Exp2(math.Floor(math.Log2(max(n, 1)))+1))
}

// Sizes of FreeBSD's state tables in bytes on 64-bit machines: vmstat -z of
// 14.0 for the zones; a hash bucket is a list head (8) and a mutex (32).
// Other releases differ by some tens of bytes.
const (
	pfStateSize  = 352
	pfKeySize    = 88
	pfSourceSize = 152
	pfTableEntry = 160
	bucketSize   = 8 + 32
	ipfwDataSize = 88
	ipfwV4Size   = 40
	ipfwV6Size   = 72
	syncacheLen  = 168
)

// PFStateMemory is what pf's state table takes in bytes: per state the state
// and its keys (two when addresses are translated), per bucket of
// net.pf.states_hashsize one for keys and one for ids, allocated at load
// whether used or not. sys/netpfil/pf/pf.c.
func PFStateMemory(states, buckets, keys float64) float64 {
	return states*(pfStateSize+keys*pfKeySize) + buckets*2*bucketSize
}

// PFSourceMemory is what pf's source nodes and their hash take in bytes.
func PFSourceMemory(nodes, buckets float64) float64 {
	return nodes*pfSourceSize + buckets*bucketSize
}

// PFTableMemory is what entries of pf tables take in bytes.
func PFTableMemory(entries float64) float64 { return entries * pfTableEntry }

// PowerOfTwo is the smallest power of two that is at least v; 1 below that.
func PowerOfTwo(v float64) float64 {
	if v <= 1 {
		return 1
	}
	return math.Exp2(math.Ceil(math.Log2(v)))
}

// IPFWBuckets is the net.inet.ip.fw.dyn_buckets at which the hash can grow
// with this many dynamic states: the next power of two, at least 512 (the
// kernel refuses 256 and below; sys/netpfil/ipfw/ip_fw_dynamic.c).
func IPFWBuckets(states float64) float64 { return max(512, PowerOfTwo(states)) }

// IPFWMemory is what ipfw's dynamic states take in bytes, IPv4: state and
// shared data, and per bucket a mutex, two lists and two counters, twice that
// with IPv6 in the kernel (ip_fw_dynamic.c dyn_grow_hashtable).
func IPFWMemory(states, buckets float64) float64 {
	return states*(ipfwDataSize+ipfwV4Size) + buckets*(32+2*(2*8+4*4))
}

// SyncacheMemory is what a full SYN cache takes in bytes: hashsize times
// bucketlimit entries.
func SyncacheMemory(hashsize, bucketlimit float64) float64 {
	return hashsize * bucketlimit * syncacheLen
}

// ConntrackMemory is what Linux's connection tracking takes in bytes: one
// nf_conn (256 bytes in its slab on 64-bit kernels since 5.15) per entry, 128
// more when it is extended (NAT, accounting, timestamps, labels, helpers or
// events: at least that much is allocated for the first of them since 4.11),
// and 8 bytes per bucket (net/netfilter/nf_conntrack_core.c,
// nf_conntrack_extend.c).
func ConntrackMemory(entries, buckets float64, extended bool) float64 {
	size := 256.0
	if extended {
		size += 128
	}
	return entries*size + buckets*8
}

// ConntrackBuckets is the default of nf_conntrack_buckets on 64-bit Linux
// 5.15 and later for memory in bytes: 262144 above 4 GiB, 65536 above 1 GiB,
// else a 16384th of memory in buckets of 8 bytes, at least 1024
// (nf_conntrack_core.c nf_conntrack_init_start). nf_conntrack_max equals it.
func ConntrackBuckets(mem float64) float64 {
	switch {
	case mem > 4<<30:
		return 262144
	case mem > 1<<30:
		return 65536
	}
	return max(1024, math.Floor(mem/16384/8))
}

package calc

import (
	"cmp"
	"math/rand/v2"
	"net/netip"
	"slices"

	"linerate/internal/show"
)

// Segment is a received TCP segment as large receive offload looks at it.
type Segment struct {
	Flow    int    // connection and direction
	Hash    uint32 // RSS hash
	Seq     uint32 // TCP sequence number
	Payload int    // bytes
	// Alone marks what is never merged: SYN, FIN, RST, URG.
	Alone bool
}

// LRO models FreeBSD's large receive offload (sys/netinet/tcp_lro.c). Segments
// of a connection merge while they are in sequence and the sum fits an IP
// packet. As they come, so many connections at a time have an entry, others'
// segments go up unmerged; sorted, a batch is put in the order of its hashes
// first and one connection follows the other. At a batch's end all go up.
type LRO struct {
	Batch   int  // packets between flushes
	Entries int  // connections merged at a time, unsorted; ≥ 1
	Sorted  bool // sort each batch by hash, then arrival
}

// lroLimit is the payload that one aggregation holds: an IP packet without
// headers of 40 bytes.
const lroLimit = 65535 - 40

// lroEntry is a connection that is being merged.
type lroEntry struct {
	next  uint32 // sequence number expected
	bytes int
}

// Aggregations is how many packets the stack gets of these segments.
func (l LRO) Aggregations(segments []Segment) int {
	n := 0
	batch := make([]Segment, 0, l.Batch)
	for part := range slices.Chunk(segments, max(l.Batch, 1)) {
		batch = append(batch[:0], part...)
		if l.Sorted {
			slices.SortStableFunc(batch, func(a, b Segment) int { return cmp.Compare(a.Hash, b.Hash) })
		}
		n += l.flush(batch)
	}
	return n
}

// flush passes one batch through the entries. Every segment that does not join
// an aggregation begins one.
func (l LRO) flush(batch []Segment) int {
	n := 0
	active := map[int]lroEntry{}
	for i, s := range batch {
		if l.Sorted && i > 0 && batch[i-1].Hash != s.Hash {
			clear(active)
		}
		e, merging := active[s.Flow]
		switch {
		case s.Alone:
			delete(active, s.Flow)
			n++
			continue
		case merging && s.Seq == e.next && e.bytes+s.Payload <= lroLimit:
			e.bytes += s.Payload
		default:
			n++
			if !merging && len(active) >= max(l.Entries, 1) {
				continue
			}
			e.bytes = s.Payload
		}
		e.next = s.Seq + uint32(s.Payload)
		active[s.Flow] = e
	}
	return n
}

// Arrivals are segments of so many connections that share a receive queue:
// again and again one of them, by chance, has burst segments in a row.
// Addresses are of 198.18.0.0/15 (RFC 2544).
func Arrivals(n, flows, burst int, seed uint64) []Segment {
	r := rand.New(rand.NewPCG(seed, 0))
	hashes, seqs := make([]uint32, flows), make([]uint32, flows)
	dst := netip.MustParseAddrPort("198.19.0.1:443")
	for i := range hashes {
		a := netip.AddrFrom4([4]byte{198, 18, byte(i >> 8), byte(i)})
		hashes[i], seqs[i] = RSSHash(netip.AddrPortFrom(a, uint16(1024+r.IntN(64000))), dst), r.Uint32()
	}
	out := make([]Segment, 0, n+burst)
	for len(out) < n {
		f := r.IntN(flows)
		for range burst {
			out = append(out, Segment{Flow: f, Hash: hashes[f], Seq: seqs[f], Payload: lroSegment})
			seqs[f] += lroSegment
		}
	}
	return out[:n]
}

// lroSegment is a full segment on Ethernet with TCP timestamps.
const lroSegment = 1448

// PerAggregation is how many segments an aggregation has on average, as they
// come and sorted.
func PerAggregation(segments []Segment, batch, entries int) (asTheyCome, sorted float64) {
	n := float64(len(segments))
	l := LRO{Batch: batch, Entries: entries}
	asTheyCome = n / float64(max(l.Aggregations(segments), 1))
	l.Sorted = true
	return asTheyCome, n / float64(max(l.Aggregations(segments), 1))
}

// LROBatches are the batch sizes that tables of LRO show.
var LROBatches = []int{16, 32, 64, 128, 256, 512, 1024, 2048, 4096}

// LROTable shows aggregation over batch sizes.
func LROTable(segments []Segment, entries int) *Table {
	t := &Table{Columns: []string{"batch", "as they come", "sorted", "sorting gains"}}
	for _, b := range LROBatches {
		if b > len(segments) {
			break
		}
		plain, sorted := PerAggregation(segments, b, entries)
		t.Rows = append(t.Rows, []string{Format(float64(b), Count), show.Trimmed(plain, 3), show.Trimmed(sorted, 3), Format(100*(sorted/plain-1), Percent)})
	}
	return t
}

// sortingPays is by how much an aggregation must grow for sorting to count.
const sortingPays = 1.1

// SortingPaysFrom is the fewest connections at which sorting lengthens
// aggregations by a tenth or more, and with which it goes on to; 0 where it
// never does. The sort itself is not charged.
func SortingPaysFrom(batch, entries, burst int, seed uint64) int {
	pays := func(flows int) bool {
		plain, sorted := PerAggregation(Arrivals(lroPackets(batch), flows, burst, seed), batch, entries)
		return sorted >= sortingPays*plain
	}
	high := 1
	for !pays(high) {
		if high *= 2; high > 1<<16 {
			return 0
		}
	}
	low := high / 2 // does not pay
	for high-low > 1 {
		if mid := (low + high) / 2; pays(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// MostFlowsSorted is the most connections at which sorted aggregations have
// more than so many segments; 0 where even one has not.
func MostFlowsSorted(segments float64, batch, burst int, seed uint64) int {
	enough := func(flows int) bool {
		_, sorted := PerAggregation(Arrivals(lroPackets(batch), flows, burst, seed), batch, 1)
		return sorted > segments
	}
	low, high := 0, 1
	for enough(high) {
		if low, high = high, 2*high; high > 1<<16 {
			return low
		}
	}
	for high-low > 1 {
		if mid := (low + high) / 2; enough(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// lroPackets is how many packets a model runs over: whole batches, enough for
// the mean to settle.
func lroPackets(batch int) int { return batch * max(16, (20_000+batch-1)/batch) }

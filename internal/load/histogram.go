package load

import "math/bits"

// The latency histogram is log-linear: 64 buckets per power of two, so a
// bucket's width is at most 1/64 of its value and its middle at most 0.8 %
// off. Below 64 ns every value has its own bucket; all values from 2³⁶ ns (69
// s) share the last. bpf/receive.bpf.c uses the same buckets.
const (
	subBits = 6
	topBits = 36
	// Buckets is the number of buckets.
	Buckets = (topBits - subBits + 1) << subBits
)

// Bucket returns the bucket of a latency in ns.
func Bucket(v uint64) int {
	if v < 1<<subBits {
		return int(v)
	}
	if v >= 1<<topBits {
		return Buckets - 1
	}
	top := bits.Len64(v) - 1 - subBits
	return (top+1)<<subBits + int(v>>top&(1<<subBits-1))
}

// BucketRange returns the smallest value of a bucket, and its width.
func BucketRange(i int) (least, width uint64) {
	if i < 1<<subBits {
		return uint64(i), 1
	}
	top := i>>subBits - 1
	return uint64(1<<subBits+i&(1<<subBits-1)) << top, 1 << top
}

// Histogram counts latencies in ns. Least and Most are exact.
type Histogram struct {
	Counts      []uint64 // Buckets long, or nil when empty
	Least, Most uint64
}

// Count adds one latency.
func (h *Histogram) Count(v uint64) {
	if h.Counts == nil {
		h.Counts = make([]uint64, Buckets)
		h.Least = v
	}
	h.Counts[Bucket(v)]++
	h.Least, h.Most = min(h.Least, v), max(h.Most, v)
}

// Merge adds the counts of another histogram.
func (h *Histogram) Merge(o Histogram) {
	if o.Counts == nil {
		return
	}
	if h.Counts == nil {
		h.Counts = make([]uint64, Buckets)
		h.Least = o.Least
	}
	for i, n := range o.Counts {
		h.Counts[i] += n
	}
	h.Least, h.Most = min(h.Least, o.Least), max(h.Most, o.Most)
}

// Total returns the number of counted latencies.
func (h *Histogram) Total() uint64 {
	var n uint64
	for _, c := range h.Counts {
		n += c
	}
	return n
}

// Quantile returns the middle of the lowest bucket such that at least a share
// q of the counts do not exceed it, limited to Least and Most.
func (h *Histogram) Quantile(q float64) uint64 {
	total := h.Total()
	if total == 0 {
		return 0
	}
	rank := max(1, uint64(q*float64(total)+0.999999))
	var seen uint64
	for i, c := range h.Counts {
		if seen += c; seen >= rank {
			least, width := BucketRange(i)
			return min(max(least+(width-1)/2, h.Least), h.Most)
		}
	}
	return h.Most
}

// Latency summarises the histogram; nil if it is empty.
func (h *Histogram) Latency() *Latency {
	if h.Total() == 0 {
		return nil
	}
	return &Latency{
		Min: h.Least, P50: h.Quantile(.50), P90: h.Quantile(.90),
		P99: h.Quantile(.99), P999: h.Quantile(.999), Max: h.Most,
	}
}

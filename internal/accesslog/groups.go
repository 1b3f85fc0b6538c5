package accesslog

import (
	"bytes"
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Bounds of the memory of groups: further keys are counted together. What has
// few values by nature (statuses, methods, classes of sizes) is counted as
// finely as the whole log, so that a lone group has the log's own percentiles;
// paths and hosts, of which there are many, within 1 %.
const (
	maxGroups     = 1000
	maxFineGroups = 64
)

// OtherGroup collects the keys beyond maxGroups.
const OtherGroup = "(other)"

// groups are distributions by key.
type groups struct {
	fine bool
	most int
	hist map[string]*hdrhistogram.Histogram
}

func newGroups(by Field) *groups {
	g := &groups{fine: by != Path && by != Host, most: maxGroups, hist: map[string]*hdrhistogram.Histogram{}}
	if g.fine {
		g.most = maxFineGroups
	}
	return g
}

func (g *groups) newHist() *hdrhistogram.Histogram {
	if g.fine {
		return newHist()
	}
	return newSmallHist()
}

// newSmallHist has two significant digits: at most 1 % off.
func newSmallHist() *hdrhistogram.Histogram { return hdrhistogram.New(1, MaxLatency, 2) }

func (g *groups) get(key []byte) *hdrhistogram.Histogram {
	if h, ok := g.hist[string(key)]; ok {
		return h
	}
	name := clip(key, 512)
	if len(g.hist) >= g.most {
		name = OtherGroup
		if h, ok := g.hist[name]; ok {
			return h
		}
	}
	h := g.newHist()
	g.hist[name] = h
	return h
}

func (g *groups) add(key []byte, us int64) { _ = g.get(key).RecordValue(us) }

func (g *groups) merge(other *groups) {
	for key, h := range other.hist {
		g.get([]byte(key)).Merge(h)
	}
}

// groupKey is what a request is grouped under: paths without their query,
// sizes by powers of four.
func groupKey(by Field, b []byte) []byte {
	switch by {
	case Path:
		if i := bytes.IndexByte(b, '?'); i >= 0 {
			return b[:i]
		}
	case Bytes:
		return sizeClass(parseCount(b))
	}
	return b
}

// sizeClass names the power-of-four class of a size.
func sizeClass(n int64) []byte {
	if n < 1024 {
		return []byte("under 1 KiB")
	}
	k := (bits.Len64(uint64(n)) - 11) / 2
	low := int64(1) << (2 * k)
	if low < 1024 {
		return fmt.Appendf(nil, "%d–%d KiB", low, low*4)
	}
	return fmt.Appendf(nil, "%d–%d MiB", low/1024, low*4/1024)
}

// Group is one row of a table by path, status, ….
type Group struct {
	Key      string  `json:"key"`
	Requests int64   `json:"requests"`
	P50      int64   `json:"p50_us"`
	P99      int64   `json:"p99_us"`
	Max      int64   `json:"max_us"`
	Share    float64 `json:"share_of_time"` // of all the time requests took
}

// Groups lists the groups, those that took most of the time first.
func (t *Tally) Groups() []Group {
	if t.groups == nil {
		return nil
	}
	var out []Group
	for key, h := range t.groups.hist {
		g := Group{Key: key, Requests: h.TotalCount(), P50: t.of(h, 50), P99: t.of(h, 99), Max: t.of(h, 100)}
		if t.Sum > 0 {
			// The histogram is 1 % off; a share is not.
			g.Share = min(1, h.Mean()*float64(g.Requests)/float64(t.Sum))
		}
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Key, b.Key))
	})
	return out
}

// of is a percentile of a group: like those of the whole log, of which no
// request took longer than the longest.
func (t *Tally) of(h *hdrhistogram.Histogram, percentile float64) int64 {
	return t.rounded(min(h.ValueAtQuantile(percentile), t.Max))
}

// SlowRequest is one request, for the list of the slowest.
type SlowRequest struct {
	Latency int64  `json:"latency_us"`
	Unix    int64  `json:"time_unix,omitempty"`
	Status  int    `json:"status,omitempty"`
	Method  string `json:"method,omitempty"`
	Path    string `json:"path,omitempty"`
}

// slowest keeps the most slow requests, sorted, slowest first.
type slowest struct {
	most int
	list []SlowRequest
}

func (s *slowest) wants(us int64) bool {
	return s.most > 0 && (len(s.list) < s.most || us >= s.list[len(s.list)-1].Latency)
}

func (s *slowest) add(r SlowRequest) {
	i, _ := slices.BinarySearchFunc(s.list, r, compareSlow)
	s.list = slices.Insert(s.list, i, r)
	if len(s.list) > s.most {
		s.list = s.list[:s.most]
	}
}

// compareSlow orders by latency, then by everything else, so that the list
// does not depend on which worker read which line.
func compareSlow(a, b SlowRequest) int {
	return cmp.Or(cmp.Compare(b.Latency, a.Latency), cmp.Compare(a.Unix, b.Unix), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
}

func (s *slowest) merge(other slowest) {
	for _, r := range other.list {
		if len(s.list) < s.most || compareSlow(r, s.list[len(s.list)-1]) < 0 {
			s.add(r)
		}
	}
}

// Slowest requests, slowest first.
func (t *Tally) Slowest() []SlowRequest { return t.slow.list }

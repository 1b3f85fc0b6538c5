package accesslog

import (
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// maxSlots bounds the timeline: beyond it, slots double in width.
const maxSlots = 360

// timeline is the distribution over time, in slots of equal width. Slots
// start at multiples of their width, so that timelines of one log's parts
// and of many hosts fall into step.
type timeline struct {
	width int64 // seconds
	slots map[int64]*hdrhistogram.Histogram
}

func newTimeline() *timeline {
	return &timeline{width: 1, slots: map[int64]*hdrhistogram.Histogram{}}
}

func (t *timeline) add(unix, us int64) { _ = t.slot(floorTo(unix, t.width)).RecordValue(us) }

func (t *timeline) slot(at int64) *hdrhistogram.Histogram {
	h, ok := t.slots[at]
	if ok {
		return h
	}
	if len(t.slots) >= maxSlots {
		t.widen(t.width * 2)
		return t.slot(floorTo(at, t.width))
	}
	h = newSmallHist()
	t.slots[at] = h
	return h
}

// widen merges slots into wider ones.
func (t *timeline) widen(width int64) {
	for width > t.width {
		t.width *= 2
	}
	old := t.slots
	t.slots = map[int64]*hdrhistogram.Histogram{}
	for at, h := range old {
		at = floorTo(at, t.width)
		if into, ok := t.slots[at]; ok {
			into.Merge(h)
		} else {
			t.slots[at] = h
		}
	}
}

func (t *timeline) merge(other *timeline) {
	if other.width > t.width {
		t.widen(other.width)
	}
	for at, h := range other.slots {
		t.slot(floorTo(at, t.width)).Merge(h)
	}
}

func floorTo(v, width int64) int64 {
	m := v % width
	if m < 0 {
		m += width
	}
	return v - m
}

// Slot is the distribution of one stretch of time.
type Slot struct {
	Unix    int64 // when it starts
	Seconds int64
	Hist    *hdrhistogram.Histogram
}

// Slots lists the timeline in order of time.
func (t *Tally) Slots() []Slot {
	if t.timeline == nil {
		return nil
	}
	var out []Slot
	for at, h := range t.timeline.slots {
		out = append(out, Slot{at, t.timeline.width, h})
	}
	slices.SortFunc(out, func(a, b Slot) int { return int(a.Unix - b.Unix) })
	return out
}

package request

// Queue is what a mail server's queue was during a load and after it: mail
// that was taken is not yet delivered.
type Queue struct {
	Samples []Depth `json:"samples"`
	Peak    int     `json:"peak"` // most messages on their way at a time
	// Deferred and Waiting are what was left at the end: given up for now, and
	// on their way still.
	Deferred     int     `json:"deferred"`
	Waiting      int     `json:"waiting"`
	DrainSeconds float64 `json:"drain_seconds"` // after the last reply, until none was on its way
}

// Depth is how many messages were where.
type Depth struct {
	Seconds  float64 `json:"seconds"`  // from the start of the watch
	Incoming int     `json:"incoming"` // taken
	Active   int     `json:"active"`   // being delivered
	Deferred int     `json:"deferred"` // to be tried again later
	Load     int     `json:"load"`     // of several, one after the other: which, from 0
}

// Waiting is how many were on their way.
func (d Depth) Waiting() int { return d.Incoming + d.Active }

// maxDepths bounds the memory of a long watch: beyond it every second sample
// goes.
const maxDepths = 512

// Add notes a sample.
func (q *Queue) Add(d Depth) {
	q.Samples = append(q.Samples, d)
	q.Peak = max(q.Peak, d.Waiting())
	q.Deferred, q.Waiting = d.Deferred, d.Waiting()
	if len(q.Samples) < maxDepths {
		return
	}
	kept := q.Samples[:0]
	for i, s := range q.Samples {
		if i%2 == 0 || i == len(q.Samples)-1 {
			kept = append(kept, s)
		}
	}
	q.Samples = kept
}

// Plus is the queue of two loads, one after the other.
func (q *Queue) Plus(next *Queue) *Queue {
	if q == nil {
		return next
	}
	out := *q
	out.Samples = nil
	for _, d := range q.Samples {
		out.Add(d)
	}
	var last Depth
	if n := len(q.Samples); n > 0 {
		last = q.Samples[n-1]
		last.Load++
	}
	for _, d := range next.Samples {
		d.Seconds += last.Seconds
		d.Load += last.Load
		out.Add(d)
	}
	out.Peak = max(q.Peak, next.Peak) // its sample may be gone
	out.Deferred, out.Waiting = next.Deferred, next.Waiting
	out.DrainSeconds += next.DrainSeconds
	return &out
}

package request

// Queue is what a mail server's queue was during a load and after it: mail
// that was taken is not yet delivered.
type Queue struct {
	Peak int `json:"peak"` // most messages on their way at a time
	// Deferred and Waiting are what was left at the end: given up for now, and
	// on their way still.
	Deferred     int     `json:"deferred"`
	Waiting      int     `json:"waiting"`
	DrainSeconds float64 `json:"drain_seconds"` // after the last reply, until none was on its way
}

// Plus is the queue of two loads, one after the other.
func (q *Queue) Plus(next *Queue) *Queue {
	if q == nil {
		return next
	}
	out := *next
	out.Peak = max(q.Peak, next.Peak)
	out.DrainSeconds += q.DrainSeconds
	return &out
}

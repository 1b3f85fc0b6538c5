package request

// Queue describes a mail server's queue during and after a load: accepted
// mail is not yet delivered.
type Queue struct {
	Peak int `json:"peak"` // largest number of messages in transit
	// Deferred and Waiting count the messages left at the end: deferred ones,
	// and those still in transit.
	Deferred     int     `json:"deferred"`
	Waiting      int     `json:"waiting"`
	DrainSeconds float64 `json:"drain_seconds"` // from the last reply until no message was in transit
}

// Plus returns the queue over two consecutive loads.
func (q *Queue) Plus(next *Queue) *Queue {
	if q == nil {
		return next
	}
	out := *next
	out.Peak = max(q.Peak, next.Peak)
	out.DrainSeconds += q.DrainSeconds
	return &out
}

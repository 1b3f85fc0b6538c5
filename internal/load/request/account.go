package request

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// longest is the longest latency recorded, an hour; longer ones count as
// that.
const longest = int64(time.Hour)

// Outcome is the result of one request; times are since the start of the run.
type Outcome struct {
	Due    time.Duration // when it was to be sent; in a closed loop, when it was sent
	Free   time.Duration // since when a connection was free for it
	Start  time.Duration // when work on it began, including dialling
	End    time.Duration // when the answer was complete, or abandoned
	Kind   Kind
	Code   int   // HTTP status, 0 without an answer
	Body   int64 // size of the body in bytes
	Target int   // index in the mix
	Detail string
}

// lag returns how long the generator itself delayed the request: the time for
// which it was due and a connection was free before it was sent.
func (o Outcome) lag() time.Duration { return max(0, o.Start-max(o.Due, o.Free)) }

// Account counts outcomes in bounded memory. It is not safe for concurrent
// use.
type Account struct {
	latency, service, lag, dial *hdrhistogram.Histogram
	kinds                       [kinds]uint64
	details                     [kinds]string
	codes                       [600]uint64
	targets                     []TargetCount
	body                        uint64
	waited, unsent, unfinished  uint64
	connections, reopened       uint64
}

// TargetCount counts the outcomes for one target of the mix.
type TargetCount struct {
	Answered uint64 `json:"answered"`
	Failed   uint64 `json:"failed"`
	Body     uint64 `json:"body_bytes"`
}

// NewAccount returns an account for a mix of the given number of targets.
func NewAccount(targets int) *Account {
	h := func() *hdrhistogram.Histogram { return hdrhistogram.New(1, longest, 3) }
	return &Account{latency: h(), service: h(), lag: h(), dial: h(), targets: make([]TargetCount, targets)}
}

func record(h *hdrhistogram.Histogram, d time.Duration) {
	_ = h.RecordValue(min(max(int64(d), 1), longest)) // within range, so it cannot fail
}

// Add counts one request. A request abandoned as too late counts with the
// latency until then: leaving it out would flatter the server.
func (a *Account) Add(o Outcome) {
	a.kinds[o.Kind]++
	if a.details[o.Kind] == "" {
		a.details[o.Kind] = o.Detail
	}
	record(a.lag, o.lag())
	if o.Free > o.Due {
		a.waited++
	}
	t := &a.targets[o.Target]
	t.Body += uint64(o.Body)
	a.body += uint64(o.Body)
	if o.Code > 0 && o.Code < len(a.codes) {
		a.codes[o.Code]++
	}
	if o.Kind == OK {
		t.Answered++
	} else {
		t.Failed++
	}
	if o.Kind.answered() || o.Kind == Late {
		record(a.latency, o.End-o.Due)
		record(a.service, o.End-o.Start)
	}
}

// Unsent counts a request that was due but never sent, abandoned after the
// given time; its latency is at least that.
func (a *Account) Unsent(after time.Duration) {
	a.unsent++
	record(a.latency, after)
}

// Connected counts a connection and the time it took, including TLS.
func (a *Account) Connected(took time.Duration) {
	a.connections++
	record(a.dial, took)
}

// Reopened counts an idle connection that the server had closed.
func (a *Account) Reopened() { a.reopened++ }

// Done returns the number of completed requests, successful or not.
func (a *Account) Done() (n uint64) {
	for _, k := range a.kinds {
		n += k
	}
	return n
}

// Merge adds the counts of another account of the same mix.
func (a *Account) Merge(b *Account) {
	for _, h := range [][2]*hdrhistogram.Histogram{{a.latency, b.latency}, {a.service, b.service}, {a.lag, b.lag}, {a.dial, b.dial}} {
		h[0].Merge(h[1])
	}
	for k := range a.kinds {
		a.kinds[k] += b.kinds[k]
		if a.details[k] == "" {
			a.details[k] = b.details[k]
		}
	}
	for i, n := range b.codes {
		a.codes[i] += n
	}
	for i, t := range b.targets {
		a.targets[i].Answered += t.Answered
		a.targets[i].Failed += t.Failed
		a.targets[i].Body += t.Body
	}
	a.body += b.body
	a.waited += b.waited
	a.unsent += b.unsent
	a.unfinished += b.unfinished
	a.connections += b.connections
	a.reopened += b.reopened
}

// Unfinished counts a request that was still open when the run ended.
func (a *Account) Unfinished() { a.unfinished++ }

// Within returns the share of all requests answered within a time; failed and
// unsent requests are not.
func (a *Account) Within(d time.Duration) float64 {
	all := a.Done() + a.unsent
	if all == 0 {
		return 0
	}
	n := int64(0)
	for _, b := range a.latency.Distribution() {
		if b.To <= int64(d) {
			n += b.Count
		}
	}
	// Late answers and unsent requests are in the distribution with longer times.
	return min(1, float64(n)/float64(all))
}

// Bins counts latencies in n bins of a width; the last bin includes all
// longer ones.
func (a *Account) Bins(width time.Duration, n int) []uint64 {
	out := make([]uint64, n)
	for _, b := range a.latency.Distribution() {
		if b.Count > 0 {
			i := min(int(b.From/int64(width)), n-1)
			out[i] += uint64(b.Count)
		}
	}
	return out
}

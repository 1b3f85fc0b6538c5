package load

import (
	"cmp"
	"fmt"

	"linerate/internal/list"
)

// window is the number of sequence numbers within which a duplicate can be told from a late frame.
const window = 256

// FlowCount is the account of one flow.
type FlowCount struct {
	Received   uint64 // without duplicates
	Duplicated uint64
	Reordered  uint64 // RFC 4737 §4: arrived after a later sequence number
	next       uint32
	seen       [window / 64]uint64
}

// Outcome is the classification of a frame within its flow.
type Outcome uint8

// The outcomes.
const (
	InOrder Outcome = iota
	Reordered
	Duplicate
)

// Count counts a frame with a sequence number. A frame older than the window
// counts as reordered while frames are missing, else as a duplicate, so that
// never more are received than were sent.
func (f *FlowCount) Count(sequence uint32) Outcome {
	word, bit := &f.seen[sequence>>6&3], uint64(1)<<(sequence&63)
	ahead := int32(sequence - f.next)
	if ahead >= 0 {
		f.skip(uint32(ahead))
		f.next = sequence + 1
		*word |= bit
		f.Received++
		return InOrder
	}
	inside := -int64(ahead) <= window
	if inside && *word&bit == 0 || !inside && f.next != uint32(f.Received) {
		if inside {
			*word |= bit
		}
		f.Received++
		f.Reordered++
		return Reordered
	}
	f.Duplicated++
	return Duplicate
}

// skip marks the next n sequence numbers as not seen.
func (f *FlowCount) skip(n uint32) {
	if n >= window {
		clear(f.seen[:])
		return
	}
	for s := f.next; s != f.next+n; s++ {
		f.seen[s>>6&3] &^= 1 << (s & 63)
	}
	// The bit of the arriving sequence number is about to be set, so its old value does not matter.
}

// StreamCount is the account of one run of a stream.
type StreamCount struct {
	Of         StreamRun
	Received   uint64
	Bytes      uint64 // with FCS
	Duplicated uint64
	Reordered  uint64
	Flows      uint64
	First      uint64 // arrival times of the first and last counted frame, ns
	Last       uint64
	Untracked  uint64 // frames of flows without room for an account
	Latency    Histogram
}

// MaxRuns is how many runs of streams a receiver distinguishes: each has its
// own distribution, and any sender could invent thousands. It equals SLOTS in
// bpf/receive.bpf.c.
const MaxRuns = 16

// Account is a receiver in user space; it does what bpf/receive.bpf.c does in
// the kernel. The zero value counts every stream.
type Account struct {
	Only     int // count only this stream, if Filter
	Filter   bool
	MaxFlows int // 0: DefaultFlows
	Foreign  uint64
	Endings  Endings
	noSlot   uint64 // frames of runs beyond MaxRuns
	streams  map[StreamRun]*streamTally
	last     *streamTally
	flows    int
}

// pageFlows is the number of flows allocated together: a frame that claims to
// be of a stream's last flow must not allocate all flows before it.
const pageFlows = 1 << 10

type streamTally struct {
	StreamCount
	pages []*[pageFlows]*FlowCount
}

// Frame counts a frame, without FCS, that arrived at a monotonic time in ns.
func (a *Account) Frame(b []byte, now uint64) {
	found, ok := FindStamp(b)
	switch {
	case !ok && IsProbe(b):
	case !ok:
		a.Foreign++
	case a.Filter && int(found.Stream) != a.Only: // for another receiver
	case found.Kind == End:
		if m, err := ReadEnding(found.Rest); err == nil {
			m.Closed = found.Time
			a.Endings.Add(StreamRun{found.Stream, found.Run}, m)
		}
	case found.Kind == Data:
		a.data(found, now)
	}
}

func (a *Account) data(f Found, now uint64) {
	s := a.tally(StreamRun{f.Stream, f.Run})
	if s == nil {
		a.noSlot++
		return
	}
	flow := s.flow(int(f.Flow), a)
	if flow == nil {
		s.Untracked++
		return
	}
	outcome := flow.Count(f.Sequence)
	if outcome == Duplicate {
		s.Duplicated++
		return
	}
	if outcome == Reordered {
		s.Reordered++
	}
	s.First = cmp.Or(s.First, now)
	s.Last = now
	s.Received++
	s.Bytes += uint64(f.Bytes)
	s.Latency.Count(Delay(f.Time, now))
}

// tally returns the account of a run, or nil if there is no room for more.
func (a *Account) tally(of StreamRun) *streamTally {
	if a.last != nil && a.last.Of == of {
		return a.last
	}
	if a.streams == nil {
		a.streams = map[StreamRun]*streamTally{}
	}
	s := a.streams[of]
	if s == nil && len(a.streams) >= MaxRuns {
		return nil
	}
	if s == nil {
		s = &streamTally{StreamCount: StreamCount{Of: of}}
		a.streams[of] = s
	}
	a.last = s
	return s
}

// flow returns the account of a flow, or nil if there is no room for more.
func (s *streamTally) flow(i int, a *Account) *FlowCount {
	page, at := i/pageFlows, i%pageFlows
	if page < len(s.pages) && s.pages[page] != nil && s.pages[page][at] != nil {
		return s.pages[page][at]
	}
	most := a.MaxFlows
	most = cmp.Or(most, DefaultFlows)
	if a.flows >= most {
		return nil
	}
	if more := page + 1 - len(s.pages); more > 0 {
		s.pages = append(s.pages, make([]*[pageFlows]*FlowCount, more)...)
	}
	if s.pages[page] == nil {
		s.pages[page] = new([pageFlows]*FlowCount)
	}
	a.flows++
	s.Flows++
	s.pages[page][at] = &FlowCount{}
	return s.pages[page][at]
}

// Received returns the account so far.
func (a *Account) Received(engine string) Received {
	var streams []StreamCount
	for _, s := range a.streams {
		streams = append(streams, s.StreamCount)
	}
	return Summarise(engine, streams, &a.Endings, a.Foreign, a.noSlot)
}

// Summarise sums up streams. Lost is known only if the endings of every
// stream are complete and no frame was untracked; noSlot counts the frames of
// runs beyond MaxRuns.
func Summarise(engine string, streams []StreamCount, ends *Endings, foreign, noSlot uint64) Received {
	r := Received{Engine: engine, Foreign: foreign}
	var all Histogram
	var first, last, untracked uint64
	for i := range streams {
		s := &streams[i]
		r.RxPackets += s.Received
		r.RxBytes += s.Bytes
		r.Duplicated += s.Duplicated
		r.Reordered += s.Reordered
		r.FlowsSeen += s.Flows
		untracked += s.Untracked
		if s.Received > 0 && (first == 0 || s.First < first) {
			first = s.First
		}
		last = max(last, s.Last)
		all.Merge(s.Latency)
	}
	if last > first {
		r.Seconds = float64(last-first) / 1e9
		r.RxPPS = float64(r.RxPackets) / r.Seconds
	}
	r.Latency, r.Delays = all.Latency(), all
	if untracked > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d frames belong to more flows than this receiver keeps: they are not counted, and loss is unknown", untracked))
	}
	if noSlot > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d frames of more than %d runs of streams were not counted, and loss is unknown", noSlot, MaxRuns))
	}
	if untracked == 0 && noSlot == 0 {
		r.close(streams, ends)
	}
	return r
}

// close computes the loss, if the generators have reported what they sent.
func (r *Received) close(streams []StreamCount, ends *Endings) {
	of := ends.Streams()
	for _, s := range streams {
		of = list.With(of, s.Of)
	}
	var sent uint64
	for _, s := range of {
		if !ends.Complete(s) {
			return
		}
		sent += ends.Sent(s)
	}
	if len(of) == 0 || ends.more {
		return
	}
	r.TxPackets = &sent
	lost := sent - r.RxPackets
	if r.RxPackets > sent {
		lost = 0
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d frames more than were sent: duplicates more than %d sequences late cannot be told from late frames", r.RxPackets-sent, window))
	}
	r.Lost = &lost
}

package load

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/list"
	"linerate/internal/show"
)

// HostTime is where the machine's time went while a generator ran, in
// seconds: why it may have fallen short of its rate.
type HostTime struct {
	Seconds float64 `json:"seconds"` // of the run, set-up included
	Workers int     `json:"workers"`
	// Stolen is what the hypervisor took from the workers' CPUs, to 10 ms;
	// of all CPUs when a worker is not pinned.
	Stolen float64 `json:"stolen_seconds"`
	// Waited is how long the workers were ready and others had their CPUs.
	Waited float64 `json:"waited_seconds"`
	// Uncounted says that this kernel does not count waits: that Waited is 0
	// says nothing.
	Uncounted bool `json:"waits_uncounted,omitempty"`
	// Threads are the kernel's packet threads that ran: ksoftirqd/CPU does
	// what softirqs had to leave, napi/DEVICE-ID receives for a device.
	Threads []ThreadTime `json:"threads,omitempty"`
}

// ThreadTime is what the scheduler says of a thread during a run.
type ThreadTime struct {
	Name    string  `json:"name"`
	Ran     float64 `json:"ran_seconds"`
	Waited  float64 `json:"waited_seconds"` // ready, and not running
	Wakeups uint64  `json:"wakeups"`        // how often it was given its CPU
}

// WakeUp is how long the thread waited for its CPU on the average, in seconds.
func (t ThreadTime) WakeUp() float64 { return t.Waited / float64(max(1, t.Wakeups)) }

const (
	// shortBy is the share of frames unsent or refused that is worth a word.
	shortBy = 0.001
	// cause is the share of the time from which something is named as one.
	cause = 0.01
	// busy is the share of the time from which a far end had no pause.
	busy = 0.9
)

// ShortBecause names what kept a generator from its rate, the weightiest
// first; nil when it did not fall short. It is what the machine shows, not a
// proof: the last word when nothing was in the way is that the path is full.
func (s Sent) ShortBecause() []string {
	unsent := float64(s.Unsent) > shortBy*float64(s.TxPackets+s.Unsent)
	refused := s.Refused != nil && float64(*s.Refused) > shortBy*float64(s.TxPackets)
	if s.Host == nil || s.Host.Seconds <= 0 || !unsent && !(refused && s.TargetPPS > 0) {
		return nil
	}
	var found []reason
	if unsent {
		found = append(found, s.Host.nearEnd()...)
	}
	if refused {
		found = append(found, s.Host.farEnd(float64(*s.Refused)/float64(s.TxPackets))...)
	}
	if len(found) == 0 && s.Host.Uncounted {
		return []string{fmt.Sprintf("%s is what the workers and this path carried; whether others had the workers' CPUs this kernel does not count", show.Rate(s.TxPPS))}
	}
	if len(found) == 0 {
		return []string{fmt.Sprintf("nothing else had the workers' CPUs: %s is what they and this path carry", show.Rate(s.TxPPS))}
	}
	slices.SortStableFunc(found, func(a, b reason) int { return cmp.Compare(b.share, a.share) })
	return list.Map(found, func(r reason) string { return r.text })
}

// reason is a cause with its share of the time.
type reason struct {
	share float64
	text  string
}

// nearEnd is what took the workers' time.
func (h *HostTime) nearEnd() (found []reason) {
	add := func(seconds float64, format string) {
		share := seconds / (h.Seconds * float64(max(1, h.Workers)))
		if share >= cause {
			found = append(found, reason{share, fmt.Sprintf(format, show.WholePercent(100*share))})
		}
	}
	add(h.Stolen, "the hypervisor stole %s of the workers' CPU time")
	softirqd := 0.0
	for _, t := range h.Threads {
		if strings.HasPrefix(t.Name, "ksoftirqd/") {
			softirqd += t.Ran
		}
	}
	softirqd = min(softirqd, h.Waited)
	add(softirqd, "ksoftirqd, to which the kernel moved the work on packets, had the workers' CPUs for %s of the time")
	add(h.Waited-softirqd, "other programs had the workers' CPUs for %s of the time")
	return found
}

// farEnd is what kept the receiving threads from taking frames: the one that
// waited most to be woken, or else one that never slept.
func (h *HostTime) farEnd(refused float64) (found []reason) {
	for _, t := range h.Threads {
		ran, waited := t.Ran/h.Seconds, t.Waited/h.Seconds
		lost := fmt.Sprintf("%s of the frames found the far end's ring full", show.Percent(100*refused))
		switch {
		case waited >= cause:
			found = append(found, reason{refused * waited, fmt.Sprintf("%s: %s waited %s of the time for its CPU, %s a time", lost, t.Name, show.WholePercent(100*waited), show.Nanos(1e9*t.WakeUp()))})
		case ran >= busy && strings.HasPrefix(t.Name, "napi/"):
			found = append(found, reason{refused * ran, fmt.Sprintf("%s: %s worked all the time, and takes no more", lost, t.Name)})
		}
	}
	slices.SortStableFunc(found, func(a, b reason) int { return cmp.Compare(b.share, a.share) })
	return found[:min(1, len(found))]
}

// wholePercent is a share of time, which is known no better.

package main

import (
	"fmt"
	"io"
	"time"

	"linerate/internal/load"
)

// liveLine shows counters on a terminal while traffic runs, in one line that
// is written over; elsewhere it shows nothing.
type liveLine struct {
	w     io.Writer
	shown bool
}

func newLiveLine(w io.Writer) *liveLine {
	if !isTerminal(w) {
		return &liveLine{}
	}
	return &liveLine{w: w}
}

func (l *liveLine) show(format string, args ...any) {
	if l.w == nil {
		return
	}
	l.shown = true
	fmt.Fprintf(l.w, "\r\033[K"+format, args...)
}

// end removes the line.
func (l *liveLine) end() {
	if l.shown {
		fmt.Fprint(l.w, "\r\033[K")
	}
}

func (l *liveLine) sent(s load.Sent) {
	l.show("%6.1f s  sent %s frames  %s  refused %s  unsent %s",
		s.Seconds, count(s.TxPackets), perSecond(s.TxPPS), known(s.Refused), count(s.Unsent))
}

func (l *liveLine) received(r load.Received, since time.Duration) {
	p50 := uint64(0)
	if r.Latency != nil {
		p50 = r.Latency.P50
	}
	l.show("%6.1f s  received %s frames  %s  duplicated %s  reordered %s  flows %s  foreign %s  p50 %s",
		since.Seconds(), count(r.RxPackets), perSecond(r.RxPPS), count(r.Duplicated), count(r.Reordered), count(r.FlowsSeen), count(r.Foreign), nanos(p50))
}

// writeSent prints a generator's account for a person.
func writeSent(w io.Writer, s load.Sent) error {
	fmt.Fprintf(w, "engine        %s\n", s.Engine)
	fmt.Fprintf(w, "sent          %s frames, %s bytes with FCS, in %.3f s\n", count(s.TxPackets), count(s.TxBytes), s.Seconds)
	fmt.Fprintf(w, "rate          %s\n", perSecond(s.TxPPS))
	if s.TargetPPS > 0 {
		fmt.Fprintf(w, "target        %s, missed by %.3f %%\n", perSecond(s.TargetPPS), 100*s.PacingError)
	}
	fmt.Fprintf(w, "unsent        %s\n", count(s.Unsent))
	_, err := fmt.Fprintf(w, "refused       %s\n", known(s.Refused))
	return writeNotes(w, s.Warnings, err)
}

// writeReceived prints a receiver's account for a person.
func writeReceived(w io.Writer, r load.Received) error {
	fmt.Fprintf(w, "received      %s frames, %s bytes with FCS, in %.3f s\n", count(r.RxPackets), count(r.RxBytes), r.Seconds)
	fmt.Fprintf(w, "rate          %s\n", perSecond(r.RxPPS))
	if r.Lost != nil && r.TxPackets != nil {
		fmt.Fprintf(w, "lost          %s of %s (%.4f %%)\n", count(*r.Lost), count(*r.TxPackets), 100*float64(*r.Lost)/float64(max(1, *r.TxPackets)))
	} else {
		fmt.Fprintf(w, "lost          unknown: no complete end of stream was seen\n")
	}
	fmt.Fprintf(w, "duplicated    %s\nreordered     %s\nflows         %s\n", count(r.Duplicated), count(r.Reordered), count(r.FlowsSeen))
	_, err := fmt.Fprintf(w, "foreign       %s\n", count(r.Foreign))
	if l := r.Latency; l != nil {
		_, err = fmt.Fprintf(w, "latency       min %s  p50 %s  p90 %s  p99 %s  p99.9 %s  max %s\n",
			nanos(l.Min), nanos(l.P50), nanos(l.P90), nanos(l.P99), nanos(l.P999), nanos(l.Max))
	}
	return writeNotes(w, r.Warnings, err)
}

func writeNotes(w io.Writer, notes []string, err error) error {
	for _, n := range notes {
		_, err = fmt.Fprintf(w, "note          %s\n", n)
	}
	return err
}

// count writes a number in groups of three digits.
func count(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func known(n *uint64) string {
	if n == nil {
		return "unknown"
	}
	return count(*n)
}

func perSecond(pps float64) string {
	switch {
	case pps >= 1e6:
		return fmt.Sprintf("%.3f Mpps", pps/1e6)
	case pps >= 1e3:
		return fmt.Sprintf("%.3f kpps", pps/1e3)
	}
	return fmt.Sprintf("%.1f pps", pps)
}

func nanos(n uint64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.2f s", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.2f ms", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.2f µs", float64(n)/1e3)
	}
	return fmt.Sprintf("%d ns", n)
}

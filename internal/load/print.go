package load

import (
	"fmt"
	"io"

	"linerate/internal/show"
)

// Print prints a generator's account.
func (s Sent) Print(w io.Writer) error {
	fmt.Fprintf(w, "engine        %s\n", s.Engine)
	fmt.Fprintf(w, "sent          %s frames, %s bytes with FCS, in %.3f s\n", show.Count(s.TxPackets), show.Count(s.TxBytes), s.Seconds)
	fmt.Fprintf(w, "rate          %s\n", show.Rate(s.TxPPS))
	if s.TargetPPS > 0 {
		fmt.Fprintf(w, "target        %s, missed by %.3f %%\n", show.Rate(s.TargetPPS), 100*s.PacingError)
	}
	fmt.Fprintf(w, "unsent        %s\n", show.Count(s.Unsent))
	_, err := fmt.Fprintf(w, "refused       %s\n", Known(s.Refused))
	return writeNotes(w, s.Warnings, err)
}

// Print prints a receiver's account.
func (r Received) Print(w io.Writer) error {
	fmt.Fprintf(w, "received      %s frames, %s bytes with FCS, in %.3f s\n", show.Count(r.RxPackets), show.Count(r.RxBytes), r.Seconds)
	fmt.Fprintf(w, "rate          %s\n", show.Rate(r.RxPPS))
	if r.Lost != nil && r.TxPackets != nil {
		fmt.Fprintf(w, "lost          %s of %s (%.4f %%)\n", show.Count(*r.Lost), show.Count(*r.TxPackets), 100*float64(*r.Lost)/float64(max(1, *r.TxPackets)))
	} else {
		fmt.Fprintf(w, "lost          unknown: no complete end of stream was seen\n")
	}
	fmt.Fprintf(w, "duplicated    %s\nreordered     %s\nflows         %s\n", show.Count(r.Duplicated), show.Count(r.Reordered), show.Count(r.FlowsSeen))
	_, err := fmt.Fprintf(w, "foreign       %s\n", show.Count(r.Foreign))
	if l := r.Latency; l != nil {
		_, err = fmt.Fprintf(w, "latency       min %s  p50 %s  p90 %s  p99 %s  p99.9 %s  max %s\n",
			show.Nanos(float64(l.Min)), show.Nanos(float64(l.P50)), show.Nanos(float64(l.P90)), show.Nanos(float64(l.P99)), show.Nanos(float64(l.P999)), show.Nanos(float64(l.Max)))
	}
	return writeNotes(w, r.Warnings, err)
}

func writeNotes(w io.Writer, notes []string, err error) error {
	for _, n := range notes {
		_, err = fmt.Fprintf(w, "note          %s\n", n)
	}
	return err
}

// Known formats a count that may be unknown.
func Known(n *uint64) string {
	if n == nil {
		return "unknown"
	}
	return show.Count(*n)
}

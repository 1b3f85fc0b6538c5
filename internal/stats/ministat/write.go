package ministat

import (
	"bytes"
	"fmt"
)

// Write renders ministat's summary and tests at 95 % without the plot. Each set needs three values.
func Write(sets []Set, g Generation) []byte {
	var out bytes.Buffer
	for i, s := range sets {
		fmt.Fprintf(&out, "%c %s\n", symbols[i+1], s.Name)
	}
	out.WriteString("    N           Min           Max        Median           Avg        Stddev\n")
	var first set
	for i, points := range sets {
		s := newSet(points, g)
		fmt.Fprintf(&out, "%c %3d %s %s %s %s %s\n", symbols[i+1], len(s.points),
			padded(s.min()), padded(s.max()), padded(s.median), padded(s.mean), padded(s.stddev))
		if i == 0 {
			first = s
			continue
		}
		writeDifference(&out, compare(s, first, 2, g))
	}
	return out.Bytes()
}

func writeDifference(out *bytes.Buffer, d Difference) {
	if !d.Proven {
		fmt.Fprintf(out, "No difference proven at %.1f%% confidence\n", d.Confidence)
		return
	}
	fmt.Fprintf(out, "Difference at %.1f%% confidence\n", d.Confidence)
	fmt.Fprintf(out, "\t%s +/- %s\n", general(d.Delta, 6), general(d.Error, 6))
	fmt.Fprintf(out, "\t%s%% +/- %s%%\n", general(d.Percent, 6), general(d.PercentError, 6))
	fmt.Fprintf(out, "\t(Student's t, pooled s = %s)\n", general(d.PooledSD, 6))
}

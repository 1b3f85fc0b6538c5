package ministat

import (
	"bytes"
	"fmt"
)

// Options are ministat's.
type Options struct {
	Generation Generation
	Column     int    // -C, from 1
	Confidence int    // -c, an index of Confidences
	Delimiters string // -d
	NoPlot     bool   // -A
	NoTest     bool   // -n: neither plot nor test
	Quiet      bool   // -q, new generation: no names, no head line
	Separate   bool   // -s
	Width      int    // -w
}

// Write renders what ministat prints for the sets. Each needs three values.
func Write(sets []Set, o Options) ([]byte, error) {
	var out bytes.Buffer
	all := make([]set, len(sets))
	for i, s := range sets {
		all[i] = newSet(s, o.Generation)
		if !o.Quiet {
			fmt.Fprintf(&out, "%c %s\n", symbols[i+1], s.Name)
		}
	}
	if !o.NoTest && !o.NoPlot {
		if err := writePlot(&out, all, o); err != nil {
			return nil, err
		}
	}
	if !o.Quiet {
		out.WriteString("    N           Min           Max        Median           Avg        Stddev\n")
	}
	for i, s := range all {
		writeVitals(&out, s, symbols[i+1])
		if i > 0 && !o.NoTest {
			writeDifference(&out, compare(s, all[0], o.Confidence, o.Generation))
		}
	}
	return out.Bytes(), nil
}

func writePlot(out *bytes.Buffer, all []set, o Options) error {
	p := newPlot(all, o.Width, o.Separate)
	if p.max-p.min == 0 {
		out.WriteString("[no plot, span is zero width]\n")
		return nil
	}
	if o.Width < 2 || o.Width > maxWidth {
		return errPlot
	}
	for i, s := range all {
		if err := p.add(s, i+1); err != nil {
			return err
		}
	}
	p.draw(out)
	return nil
}

func writeVitals(out *bytes.Buffer, s set, symbol byte) {
	fmt.Fprintf(out, "%c %3d %s %s %s %s %s\n", symbol, len(s.points),
		padded(s.min()), padded(s.max()), padded(s.median), padded(s.mean), padded(s.stddev))
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

package tunable

import (
	"math/big"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/release"
)

// Stored returns the value that the system holds after writing a line over an old value ("" if
// unknown): the line's value, the nearest bound, or the old value if the line is refused. Linux
// parses most vectors number by number and stores each immediately (kernel/sysctl.c,
// do_proc_dointvec): of "4096 87380 4294967296" the first two are stored before the third is
// refused, and numbers missing in the line keep their value.
func (r *Record) Stored(rel release.Release, l fact.Line, old string) string {
	p := r.RejectLine(rel, l)
	switch {
	case r.Type == Numbers && r.OS == Linux:
		return r.storedNumbers(p, l.Value, old)
	case p == nil:
		return l.Value
	case p.Outside == Refused:
		return old
	case p.Kind == ProblemPower && r.Constraints.RoundedUp:
		n, _ := ParseInteger(r.Read(l.Value))
		return new(big.Int).Lsh(big.NewInt(1), uint(n.BitLen())).String()
	case p.Outside == Clamped:
		return nearest(r.RangeOn(rel), r.Read(l.Value))
	}
	return l.Value
}

// storedNumbers is Stored for a vector.
func (r *Record) storedNumbers(p *ValueProblem, value, old string) string {
	numbers, before := strings.Fields(value), strings.Fields(old)
	if c := r.Constraints.Count; c > 0 {
		numbers = numbers[:min(len(numbers), c)]
	}
	if p != nil && p.Outside == Refused {
		numbers = numbers[:p.Kept]
	}
	if len(before) > len(numbers) {
		numbers = append(numbers[:len(numbers):len(numbers)], before[len(numbers):]...)
	}
	return strings.Join(numbers, " ")
}

// nearest returns the stored value of an integer that the system moves into its range.
func nearest(x Range, value string) string {
	n, ok := ParseInteger(value)
	switch {
	case !ok || x.Domain != Whole:
		return value
	case x.Least != nil && n.Cmp(x.Least) < 0:
		return x.Least.String()
	case x.Most != nil && n.Cmp(x.Most) > 0:
		return x.Most.String()
	}
	return value
}

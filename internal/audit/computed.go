package audit

import (
	"slices"

	"linerate/internal/fact"
	"linerate/internal/show"
	"linerate/internal/tunable"
)

// rungs are the machines, from the smallest to the largest thought of, on
// which a default is computed when the host's own size is not known: routers
// begin at 64 MiB of memory, and few servers have less than a GiB.
const (
	rungs    = 19
	smallest = 26 // log2 of the memory of rung 0
	usual    = 4  // the rung of a GiB
	huge     = 14 // the rung of a TiB
)

// least is the rung of the smallest machine: Linux runs on small routers.
func (a *auditor) least(processors bool) int {
	if processors || a.f.OS == fact.Linux {
		return 0
	}
	return usual
}

// machine is the host as if it had so much: 64 MiB to 16 TiB of memory in one
// domain, or 1 to 262,144 processors.
func (a *auditor) machine(rung int, processors bool) tunable.Env {
	f := *a.f
	if processors {
		f.CPU.Count = 1 << rung
	} else {
		f.Memory.Physical = 1 << (smallest + rung)
		if len(f.CPU.Domains) == 0 {
			f.CPU.Domains = make([]fact.Domain, 1)
		}
	}
	return a.c.NewEnv(&f, a.Role)
}

// size says what a rung is.
func size(rung int, processors bool) string {
	if processors {
		return show.Plural(1<<rung, "processor")
	}
	return show.Bytes(float64(uint64(1)<<(smallest+rung))) + " of memory"
}

// belowOnSome reports a number for which the kernel's own, computed from what
// is not known of this host, is larger on some machines, and on which. One
// that no machine's own exceeds raises it everywhere: nothing is reported.
func (a *auditor) belowOnSome(j judged) []candidate {
	if !j.rec.Constraints.OnlyRaise && !capacity(j) {
		return nil
	}
	rung, processors, own, ok := a.overtaken(j.Value, j.rec)
	of := "some"
	switch {
	case !ok:
		of = "computed"
	case rung == rungs, rung > huge && !processors:
		return nil // it is more than any machine's own that one thinks of
	case rung == a.least(processors):
		of = "any"
	}
	c := a.says("LR-LOWERS", of, j.Line, with{"formula": j.st.Formula, "size": size(rung, processors), "own": own})
	if of == "some" && rung <= usual && !processors && !slices.Contains(a.Rules.Small, a.Role) {
		c.Severity, c.Action, c.Fix = Warning, Remove, removeLine
	}
	if j.rec.Constraints.OnlyRaise && j.Stage == fact.Sysctl {
		c.Why += " A running system then refuses the line (\"Invalid argument\"): it can only be raised."
	}
	return []candidate{c}
}

// overtaken is the first rung whose computed default is above a number, and
// that default; rungs when none is. ok is false where the default hangs on
// more than memory alone or processors alone.
func (a *auditor) overtaken(value string, rec *tunable.Record) (rung int, processors bool, own string, ok bool) {
	for _, processors := range []bool{false, true} {
		if a.machine(usual, processors).Unknown(rec.At(a.f.Release).Formula) {
			continue
		}
		for rung := a.least(processors); rung < rungs; rung++ {
			d, known := rec.DefaultIn(a.f.Release, a.machine(rung, processors))
			if !known {
				break
			}
			if less(last(value), last(d)) < 0 {
				return rung, processors, d, true
			}
		}
		return rungs, processors, "", true
	}
	return 0, false, "", false
}

package audit

import (
	"slices"

	"linerate/internal/fact"
	"linerate/internal/show"
	"linerate/internal/tunable"
)

// Rungs are assumed machine sizes, for computing a default when the host's size is unknown: routers
// start at 64 MiB of memory, and few servers have less than 1 GiB.
const (
	rungs    = 19
	smallest = 26 // log2 of the bytes of memory at rung 0
	usual    = 4  // the rung of 1 GiB
	huge     = 14 // the rung of 1 TiB
)

// least returns the rung of the smallest machine: Linux also runs on small routers.
func (a *auditor) least(processors bool) int {
	if processors || a.f.OS == fact.Linux {
		return 0
	}
	return usual
}

// machine returns the environment of the host with the size of a rung: 64 MiB to 16 TiB of memory
// in one domain, or 1 to 262,144 processors.
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

// size describes a rung.
func size(rung int, processors bool) string {
	if processors {
		return show.Plural(1<<rung, "processor")
	}
	return show.Bytes(float64(uint64(1)<<(smallest+rung))) + " of memory"
}

// belowOnSome reports a number that, on some machine sizes, is below the default that the kernel
// computes from facts unknown here, and names the sizes. It ignores a number that no default
// exceeds, which raises it everywhere.
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
		return nil // above the default of any machine considered
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

// overtaken returns the first rung whose computed default exceeds a number, and that default; rungs
// if none does. ok is false if the default depends on anything but memory alone or processors
// alone.
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

package judge

import (
	"strings"

	"linerate/internal/evidence"
	"linerate/internal/role"
)

// weigh pools the measurements of changes from the current value.
func (j *Judge) weigh(x Judgement) []evidence.Change {
	is := func(value string) bool {
		return value == "" && x.Stands.Value == x.Default || x.Record.SameValue(value, x.Stands.Value)
	}
	var away []evidence.Row
	for _, r := range j.evidence[evidence.FoldName(x.Record.Name)] {
		switch {
		case !Concerns(j.Role, r.Metric) || is(r.Before) == is(r.After):
			continue
		case is(r.After):
			r = r.Reversed()
		}
		r.Before = x.Stands.Value
		if r.After == "" {
			r.After = x.Default
		}
		away = append(away, r)
	}
	return evidence.Weigh(away, j.Host())
}

// Host returns the host in the form that evidence uses.
func (j *Judge) Host() *evidence.Host { return &evidence.Host{Facts: j.Facts, Drivers: j.env.Drivers} }

// byEvidence decides by the measured changes: set what helps, measure what may help, keep
// everything else. It returns false if no measurement decides.
func (x *Judgement) byEvidence() bool {
	best := evidence.Best(x.Evidence)
	if best != nil {
		x.Do, x.To, x.Basis, x.Why = Set, best.After, Measured, best.Text
		return true
	}
	for _, c := range x.Evidence {
		switch {
		case c.Says == evidence.Elsewhere || c.Says == evidence.Depends:
			x.Do, x.To, x.Basis, x.Why = Measure, c.After, Measured, c.Text
		case x.Why == "" && c.Near() && c.Says != evidence.Untold:
			x.Basis, x.Why = Measured, c.Text
		}
	}
	return x.Why != ""
}

// Concerns reports whether a metric is relevant to a role.
func Concerns(of, metric string) bool {
	packets := strings.Contains(metric, "forwarding") || strings.Contains(metric, "ns_per_packet") || strings.Contains(metric, "equilibrium")
	return packets == role.Forwards(of)
}

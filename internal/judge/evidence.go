package judge

import (
	"strings"

	"linerate/internal/evidence"
	"linerate/internal/role"
)

// weigh pools what was measured of changes from the value that stands.
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

// Host is the host as evidence knows it.
func (j *Judge) Host() *evidence.Host { return &evidence.Host{Facts: j.Facts, Drivers: j.env.Drivers} }

// byEvidence does what the studies of changes come to: what helps is set, what may help is
// measured, all else stays. false: nothing was measured that tells.
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

// Concerns reports whether a metric is about what a role does.
func Concerns(of, metric string) bool {
	packets := strings.Contains(metric, "forwarding") || strings.Contains(metric, "ns_per_packet") || strings.Contains(metric, "equilibrium")
	return packets == role.Forwards(of)
}

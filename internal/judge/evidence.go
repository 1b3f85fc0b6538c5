package judge

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/evidence"
	"linerate/internal/fact"
	"linerate/internal/stats"
)

// Evidence is what was measured of a change from the value that stands: on hardware
// and a release like the host's, and on others. Verdicts of the way back are reversed.
type Evidence struct {
	Alike, Elsewhere []evidence.Row
	// Conflict: of one change some on alike hardware found better and some worse.
	Conflict bool
	// Gain is the clearest verdict for a change, where those against it, or that
	// found no difference, do not weigh more.
	Gain *evidence.Row
}

// weigh is the evidence of a setting.
func (j *Judge) weigh(x Judgement) Evidence {
	var e Evidence
	is := func(value string) bool {
		return (value == "" && x.Stands.Value == x.Default) || value == x.Stands.Value
	}
	for _, r := range j.evidence[evidence.FoldName(x.Record.Name)] {
		switch {
		case !Concerns(j.Role, r.Metric) || is(r.Before) == is(r.After):
			continue
		case is(r.After):
			r = r.Reversed()
		}
		if Alike(j.Facts, j.env.Drivers, r) {
			e.Alike = append(e.Alike, r)
		} else {
			e.Elsewhere = append(e.Elsewhere, r)
		}
	}
	e.Conflict = evidence.Conflict(e.Alike)
	e.Gain = Gain(e.Alike)
	return e
}

// Gain is the clearest gain of some verdicts, where more blocks found its value better
// than found it no better; nil without one.
func Gain(rows []evidence.Row) *evidence.Row {
	gain := evidence.ClearestGain(rows)
	if gain == nil {
		return nil
	}
	better, other := 0, 0
	for _, r := range evidence.Primary(rows) {
		switch r = r.Standing(); {
		case r.After != gain.After || r.Excluded != "":
		case r.Verdict == stats.Better:
			better += r.N
		case r.Verdict == stats.Worse || r.Verdict == stats.Equivalent:
			other += r.N
		}
	}
	if better <= other {
		return nil
	}
	return gain
}

// forwards are the roles that forwarding rates are about.
var forwards = []string{"router", "firewall", "bridge", "vpn"}

// Concerns reports whether a metric is about what a role does.
func Concerns(role, metric string) bool {
	packets := strings.Contains(metric, "forwarding") || strings.Contains(metric, "ns_per_packet") || strings.Contains(metric, "equilibrium")
	return packets == slices.Contains(forwards, role)
}

// Alike reports a verdict from the CPU, the major release and a NIC driver of a host. A
// lab of namespaces has no card: there the CPU alone decides.
func Alike(f *fact.Facts, drivers []string, r evidence.Row) bool {
	if strings.HasPrefix(r.Label, evidence.ByOthers) || !strings.EqualFold(r.OS, f.OS) || !strings.HasPrefix(r.Release, fmt.Sprintf("%d.", f.Release.Major)) || !sameCPU(r.CPU, f.CPU.Model) {
		return false
	}
	return r.Driver == "" || r.Driver == "veth" || slices.Contains(drivers, r.Driver)
}

// sameCPU compares models as systems and people spell them: the words of the shorter
// name are all in the longer.
func sameCPU(a, b string) bool {
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune(" (),@", r) })
	}
	x, y := words(a), words(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	return len(x) > 1 && !slices.ContainsFunc(x, func(w string) bool { return !slices.Contains(y, w) })
}

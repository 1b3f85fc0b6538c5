package audit

import (
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/setting"
	"linerate/internal/tunable"
)

// outside returns the case of LR-RANGE for a value that a tunable does not accept: it depends on
// the consequences.
func outside(p *tunable.ValueProblem, j judged) string {
	switch {
	case p.Outside == tunable.OwnSize && j.Stage == fact.Loader && strings.TrimSpace(j.Value) == "0":
		return "asked"
	case p.Outside == tunable.Off && strings.HasSuffix(j.Name, "_enable"):
		return "off-switch" // pf_enable="TRU" leaves the firewall off
	case p.Outside == tunable.Clamped && nearly(j.Value, j.rec.Constraints.Max):
		return "nearly"
	case p.Outside == "":
		return "unknown"
	case p.Outside != tunable.Refused:
		return string(p.Outside)
	case j.Stage == fact.Sysctl && p.Kind == tunable.ProblemType && j.rec.Type.Integer() && j.rec.OS == tunable.FreeBSD:
		return "no-integer"
	case j.Stage == fact.Sysctl && p.Kept > 0: // of a vector usually only the rest is refused
		return "partly"
	case j.Stage == fact.Sysctl && j.st.Together && len(strings.Fields(j.Value)) > 1:
		return "together"
	case j.Stage == fact.Sysctl:
		return "invalid"
	case j.rec.Mechanism == setting.Firewall:
		return "pf"
	}
	return "ignored"
}

// nearly reports a value that is above the maximum by a thousandth or less: kern.maxproc=100000 for 99999.
func nearly(value string, most *float64) bool {
	v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	return err == nil && most != nil && v > *most && v <= *most*1.001
}

// beyond returns the finding for such a value.
func (a *auditor) beyond(p *tunable.ValueProblem, j judged) candidate {
	values := with{"problem": p.Message, "refuses": pfRefuses}
	if numbers := strings.Fields(j.Value); p.Kept > 0 {
		values["kept"], values["next"] = strings.Join(numbers[:p.Kept], " "), numbers[p.Kept]
	}
	c := a.says("LR-RANGE", outside(p, j), j.Line, values)
	c.Sources = j.rec.Sources // also for a service without a record
	return c
}

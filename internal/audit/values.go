package audit

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/redact"
	"linerate/internal/lazy"
	"linerate/internal/setting"
	"linerate/internal/tunable"
)

// service is the record used for a service's NAME_enable that the catalogue lacks.
var service = &tunable.Record{OS: tunable.FreeBSD, Type: tunable.YesNo, Mechanism: setting.RC, Sources: []string{"rc.subr(8)"}}

// asService assigns the record service to the switch of a service that the catalogue lacks.
func asService(j judged) judged {
	if j.rec == nil && j.Stage == fact.RCConf && strings.HasSuffix(j.Name, "_enable") && j.Value != "" {
		j.rec, j.st = service, tunable.State{Exists: true}
	}
	return j
}

// rejected reports values that the system refuses or replaces.
func (a *auditor) rejected(j judged) []candidate {
	j = asService(j)
	if j.rec == nil {
		return nil
	}
	p := j.rec.RejectLine(a.f.Release, j.Line)
	if p != nil && j.moot && p.Outside != tunable.Refused {
		p = nil // the system's own value: the limits for users do not apply
	}
	if p == nil {
		return a.onlyRaise(j)
	}
	c := a.beyond(p, j)
	if d, known := j.rec.DefaultOf(j.Name, a.f.Release, a.env); known {
		c.Fix = fmt.Sprintf("Give a value that fits, or remove the line (default %s).", d)
	}
	if p.Outside == tunable.Taken {
		if said := a.cautions(j); len(said) > 0 {
			return nil // it reports the effects of such a value
		}
		c.class = caution // whatever the effects are
	}
	return []candidate{c}
}

// noChoice reports a redacted word where only certain words are accepted: those are never redacted, so this is not one of them.
func (a *auditor) noChoice(j judged) []candidate {
	j = asService(j)
	if j.rec == nil || strings.TrimSpace(j.Value) != redact.Mark || !j.st.Exists {
		return nil
	}
	x := j.rec.RangeOn(a.f.Release)
	choices := "YES and NO"
	switch {
	case x.Domain == tunable.Choice:
		choices = strings.Join(j.st.Values, ", ")
	case x.Domain != tunable.Switch:
		return nil
	}
	c := a.beyond(&tunable.ValueProblem{Kind: tunable.ProblemChoice, Outside: x.Outside}, j)
	c.Message, c.Fix = fmt.Sprintf("%s is set to a word that is not one of %s", j.Name, choices), "Correct the word, or remove the line."
	return []candidate{c}
}

// onlyRaise reports runtime lines below the value that the kernel computed at boot, where it refuses to lower it.
func (a *auditor) onlyRaise(j judged) []candidate {
	if !j.rec.Constraints.OnlyRaise || j.Stage != fact.Sysctl {
		return nil
	}
	d, known := a.floor(j)
	if !known || less(j.Value, d) >= 0 {
		return nil
	}
	return []candidate{a.says("LR-RANGE", "raise", j.Line, with{"default": d})}
}

// floor returns the value that exists when a runtime line is applied: the running one, the loader's, or the default.
func (a *auditor) floor(j judged) (string, bool) {
	if v, ok := a.f.LiveValue(j.Name); ok {
		return v, true
	}
	s, _ := a.f.Tunable(j.Name)
	if l, ok := s.EffectiveLine(fact.Loader); ok {
		return l.Value, true
	}
	return j.rec.DefaultOf(j.Name, a.f.Release, a.env)
}

// tunnelMTU matches MTUs whose default is that of Ethernet minus the tunnel's header.
var tunnelMTU = lazy.Regexp(`^link\.(wg|gre|gretap|ipip|sit|tunl|ip6tnl|vxlan|geneve)[0-9].*\.mtu$`)

// asDefault reports lines that set the default. It ignores policies: setting their default is hardening, which auditors require.
func (a *auditor) asDefault(j judged) []candidate {
	if j.rec == nil || !j.moot || a.policy(j.rec) || a.required(j.Line, j.rec) || a.restores(j) || a.boot.changes(j.Line, j.rec) || packaged(j.File) || j.Effective && slices.ContainsFunc(j.rec.Coupled, func(k tunable.Coupling) bool { return len(a.disagree(j.Line, k)) > 0 }) || a.inherits(j.Name) || tunnelMTU().MatchString(j.Name) {
		return nil
	}
	return []candidate{a.says("LR-DEFAULT", "same", j.Line, with{"shown": cmp.Or(j.Value, `""`)})}
}

// inherits reports the MTU of an interface that takes it from another one unless set: a VLAN, a bridge, a bond.
func (a *auditor) inherits(name string) bool {
	link, ok := strings.CutPrefix(name, "link.")
	link, mtu := strings.CutSuffix(link, ".mtu")
	n, known := a.f.NIC(link)
	return ok && mtu && (strings.ContainsAny(link, "./@") || known && n.Kind != fact.KindEthernet || strings.HasPrefix(link, "br") || strings.HasPrefix(link, "vmbr") || strings.HasPrefix(link, "bond"))
}

// restores reports whether another line sets the name to another value, so that a line with the default has an effect.
func (a *auditor) restores(j judged) bool {
	s, ok := a.f.Tunable(j.Name)
	if j.Stage == fact.RCConf {
		s, ok = a.f.RCVariable(j.Name)
	}
	if a.f.OS == fact.Linux && globbed(a.Rules.Distributions, j.Name) {
		return true
	}
	return ok && slices.ContainsFunc(s.Lines, func(l fact.Line) bool {
		return !j.rec.SameValue(l.Value, j.Value)
	})
}

// lowers reports lines with a number below a default that the kernel computes, or that has grown since the number was good
// advice. Of several numbers it compares the last, the limit.
func (a *auditor) lowers(j judged) []candidate {
	if j.rec == nil || j.rec.Constraints.Mask || !j.rec.Type.Integer() && !(j.rec.Type == tunable.Numbers && j.st.IsFormula()) || j.partial() || j.Only == fact.Raise || a.idle(j) || a.productSets(j.Name) {
		return nil
	}
	d, known := j.rec.DefaultOf(j.Name, a.f.Release, a.env)
	switch {
	case j.st.IsFormula() && !known:
		return a.belowOnSome(j)
	case !known || less(last(j.rec.Stored(a.f.Release, j.Line, "")), last(d)) >= 0:
		return nil
	case j.st.IsFormula() && capacity(j):
		return []candidate{a.says("LR-LOWERS", "machine", j.Line, with{"default": d, "formula": j.st.Formula})}
	}
	old, ok := a.grownFrom(j)
	if !ok {
		return nil
	}
	c := a.says("LR-LOWERS", "grown", j.Line, with{"default": d, "old": old})
	if a.plenty(j, d) {
		c.Severity, c.Action = Info, Measure
		c.Why += " So much hardly anything asks for."
	}
	return []candidate{c}
}

// plentiful is the least value, in bytes, that is accepted as "no limit" if the host's memory is unknown.
const plentiful = 64 << 30

// plenty reports a limit on memory that is unlimited by default, and that the line sets above the host's memory, or that of most
// hosts if unknown.
func (a *auditor) plenty(j judged, byDefault string) bool {
	unit := map[string]int64{"bytes": 1, "pages": 4096}[j.rec.Unit]
	v, ok := tunable.ParseInteger(last(j.Value))
	if !ok || unit == 0 || less(byDefault, "1000000000000000000") < 0 {
		return false
	}
	need := int64(plentiful)
	if m := a.f.Memory.Physical; m > 0 {
		need = int64(m)
	}
	return v.Mul(v, big.NewInt(unit)).Cmp(big.NewInt(need)) >= 0
}

// idle reports whether, by a caution of its record, a line has no effect on this host: then it lowers nothing.
func (a *auditor) idle(j judged) bool {
	return slices.ContainsFunc(a.cautions(j), func(c candidate) bool { return c.Kind == Ineffective })
}

// capacity reports a number of which more is meant to be better. Values that switch something off, and negative ones, are
// decisions, not outdated numbers.
func capacity(j judged) bool {
	v, ok := tunable.ParseInteger(last(j.Value))
	return ok && v.Cmp(big.NewInt(1)) > 0
}

// partial reports whether the line has fewer numbers than the tunable: it sets the first ones and not the limit.
func (j judged) partial() bool {
	return j.rec.Type == tunable.Numbers && len(strings.Fields(j.Value)) < j.rec.Constraints.Count
}

// last returns the last of several numbers, or the only one.
func last(value string) string {
	value = strings.TrimSpace(value)
	return value[strings.LastIndexAny(value, " \t")+1:]
}

// grownFrom returns the default of an earlier release that a line's value reaches, though it is below the default of this
// release.
func (a *auditor) grownFrom(j judged) (string, bool) {
	if !capacity(j) {
		return "", false
	}
	var older []string
	rel := a.f.Release
	for _, c := range j.rec.Changes {
		switch {
		case c.Default == nil:
		case !c.Until.IsZero() && (rel.IsZero() || !rel.Before(c.Until)): // ended before this release
			older = append(older, *c.Default)
		case !c.From.IsZero() && !rel.Before(c.From) && j.rec.Default != nil: // the first default has ended
			older = append(older, *j.rec.Default)
		}
	}
	i := slices.IndexFunc(older, func(d string) bool { return capacity(judged{Line: fact.Line{Value: d}}) && less(j.Value, d) >= 0 })
	if i < 0 {
		return "", false
	}
	return older[i], true
}

// less compares two values as numbers; non-numbers compare equal.
func less(a, b string) int {
	x, ok := tunable.ParseInteger(strings.TrimSpace(a))
	y, ok2 := tunable.ParseInteger(strings.TrimSpace(b))
	if !ok || !ok2 {
		return 0
	}
	return x.Cmp(y)
}

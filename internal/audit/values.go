package audit

import (
	"cmp"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/redact"
	"linerate/internal/setting"
	"linerate/internal/tunable"
)

// service stands for the record of a service's NAME_enable that the catalogue does not have.
var service = &tunable.Record{OS: tunable.FreeBSD, Type: tunable.YesNo, Mechanism: setting.RC, Sources: []string{"rc.subr(8)"}}

// asService gives the switch of a service that the catalogue does not have its record.
func asService(j judged) judged {
	if j.rec == nil && j.Stage == fact.RCConf && strings.HasSuffix(j.Name, "_enable") && j.Value != "" {
		j.rec, j.st = service, tunable.State{Exists: true}
	}
	return j
}

// rejected reports values that the system refuses, or replaces by others.
func (a *auditor) rejected(j judged) []candidate {
	j = asService(j)
	if j.rec == nil {
		return nil
	}
	p := j.rec.RejectLine(a.f.Release, j.Line)
	if p != nil && j.moot && p.Outside != tunable.Refused {
		p = nil // the system's own value, which bounds for others do not bind
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
			return nil // which says what such a value does
		}
		c.class = caution // it has its effects, whatever they are
	}
	return []candidate{c}
}

// noChoice reports a hidden word where only some words are taken: those are never
// hidden, so this is none of them.
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
	c.Message, c.Fix = fmt.Sprintf("%s is set to a word that is none of %s", j.Name, choices), "Correct the word, or remove the line."
	return []candidate{c}
}

// onlyRaise reports runtime lines below what the kernel computed at boot,
// where it refuses to go down.
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

// floor is the value that a runtime line meets: the running one, what the
// loader set, or the default.
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

// tunnelMTU are MTUs whose default is Ethernet's less the tunnel's header.
var tunnelMTU = regexp.MustCompile(`^link\.(wg|gre|gretap|ipip|sit|tunl|ip6tnl|vxlan|geneve)[0-9].*\.mtu$`)

// asDefault reports lines that set what is so anyway. Pinning the default of a policy is
// hardening: an auditor wants such lines.
func (a *auditor) asDefault(j judged) []candidate {
	if j.rec == nil || !j.moot || a.policy(j.rec) || a.required(j.Line, j.rec) || a.restores(j) || a.boot.changes(j.Line, j.rec) || packaged(j.File) || a.atOdds(j) || a.inherits(j.Name) || tunnelMTU.MatchString(j.Name) {
		return nil
	}
	return []candidate{a.says("LR-DEFAULT", "same", j.Line, with{"shown": cmp.Or(j.Value, `""`)})}
}

// inherits reports the MTU of an interface that has another one's where none is set: a VLAN,
// a bridge, a bond.
func (a *auditor) inherits(name string) bool {
	link, ok := strings.CutPrefix(name, "link.")
	link, mtu := strings.CutSuffix(link, ".mtu")
	n, known := a.f.NIC(link)
	return ok && mtu && (strings.ContainsAny(link, "./@") || known && n.Kind != fact.KindEthernet || strings.HasPrefix(link, "br") || strings.HasPrefix(link, "vmbr") || strings.HasPrefix(link, "bond"))
}

// restores reports whether another line sets the name to something else, so
// that a line with the default has an effect.
func (a *auditor) restores(j judged) bool {
	s, ok := a.f.Tunable(j.Name)
	if j.Stage == fact.RCConf {
		s, ok = a.f.RCVariable(j.Name)
	}
	if a.f.OS == fact.Linux && a.distributionSets(j.Name) {
		return true
	}
	return ok && slices.ContainsFunc(s.Lines, func(l fact.Line) bool {
		return !j.rec.SameValue(l.Value, j.Value)
	})
}

// lowers reports lines that put a number below a default that the kernel
// computes, or that has grown since the number was good advice. Of several
// numbers the last, the limit, is compared.
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

// plentiful is what a limit may be that stands for "none" where the memory of
// the host is not known, in bytes.
const plentiful = 64 << 30

// plenty reports a limit on memory that is no limit by default, and that the
// line puts where the host's memory, or that of most hosts, does not reach.
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

// idle reports a line that does nothing on this host, as a caution of its
// record says: what nothing reads lowers nothing.
func (a *auditor) idle(j judged) bool {
	return slices.ContainsFunc(a.cautions(j), func(c candidate) bool { return c.Kind == Ineffective })
}

// capacity reports a number of which more is meant to be better: the values
// that switch something off, and signs, are decisions and no stale numbers.
func capacity(j judged) bool {
	v, ok := tunable.ParseInteger(last(j.Value))
	return ok && v.Cmp(big.NewInt(1)) > 0
}

// partial reports fewer numbers than the tunable has: they set the first ones,
// and say nothing of the limit.
func (j judged) partial() bool {
	return j.rec.Type == tunable.Numbers && len(strings.Fields(j.Value)) < j.rec.Constraints.Count
}

// last is the last of several numbers, or the only one.
func last(value string) string {
	value = strings.TrimSpace(value)
	return value[strings.LastIndexAny(value, " \t")+1:]
}

// grownFrom is the default of earlier releases that a line's value was not
// below, while it is below the one of this release.
func (a *auditor) grownFrom(j judged) (string, bool) {
	if !capacity(j) {
		return "", false
	}
	var older []string
	rel := a.f.Release
	for _, c := range j.rec.Changes {
		switch {
		case c.Default == nil:
		case !c.Until.IsZero() && (rel.IsZero() || !rel.Before(c.Until)): // it ended before this release
			older = append(older, *c.Default)
		case !c.From.IsZero() && !rel.Before(c.From) && j.rec.Default != nil: // the first one ended
			older = append(older, *j.rec.Default)
		}
	}
	i := slices.IndexFunc(older, func(d string) bool { return capacity(judged{Line: fact.Line{Value: d}}) && less(j.Value, d) >= 0 })
	if i < 0 {
		return "", false
	}
	return older[i], true
}

// less compares two values as numbers; texts that are none are equal.
func less(a, b string) int {
	x, ok := tunable.ParseInteger(strings.TrimSpace(a))
	y, ok2 := tunable.ParseInteger(strings.TrimSpace(b))
	if !ok || !ok2 {
		return 0
	}
	return x.Cmp(y)
}

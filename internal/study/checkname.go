package study

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/yamlfile"
)

var notInNames = regexp.MustCompile(`[^a-z0-9._-]+`)

// nameLike is the name that is nearest to a text.
func nameLike(text string) string {
	return strings.Trim(notInNames.ReplaceAllString(strings.ToLower(text), "-"), "-._")
}

// notSwept advises of a parameter in a name that the study does not sweep.
func (s *Spec) notSwept(bad *yamlfile.Problem, name string) *yamlfile.Problem {
	ref := reference.FindString(name)
	if ref == "" {
		return bad
	}
	bad.What = "nothing sweeps " + ref + ", which is in the name " + name
	bad.Advice = "add a sweep with parameter: " + referred(ref)
	if len(s.Sweep) > 0 {
		bad.Advice = hint.Of(hint.Unknown("parameter", referred(ref), s.parameters()))
	}
	return bad
}

func (s *Spec) parameters() (names []string) {
	return list.Map(s.Sweep, func(w Sweep) string { return w.Parameter })
}

func (s *Spec) partNames() (names []string) {
	return list.Map(s.Parts, func(p Part) string { return p.Name })
}

// ofItsOwn tells how two things of one name get their own.
func (s *Spec) ofItsOwn(at Point) string {
	if len(at) == 0 {
		return "give each a name of its own"
	}
	return "a sweep makes one of each value: write $" + slices.Sorted(maps.Keys(at))[0] + " into the name"
}

// checkSwept refuses sweeps of nothing: parameters that no variant and no part
// mentions or lies at.
func (s *Spec) checkSwept() *yamlfile.Problem {
	for i, w := range s.Sweep {
		if !s.mentions(w.Parameter) {
			return yamlfile.Wrong("sweep["+number(float64(i))+"]", "sweep of nothing: no variant and no part has $%s", w.Parameter).
				Advise("write $%s where its values belong: name: rules-$%s, settings: [{firewall: {linear: $%s}}]", w.Parameter, w.Parameter, w.Parameter)
		}
	}
	return nil
}

func (s *Spec) mentions(parameter string) bool {
	at := func(p Point) bool { _, ok := p[parameter]; return ok }
	return slices.ContainsFunc(s.Variants, func(v Variant) bool { return at(v.At) }) ||
		slices.ContainsFunc(s.Parts, func(p Part) bool { return at(p.At) })
}

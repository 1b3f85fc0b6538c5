package study

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/lazy"
	"linerate/internal/list"
	"linerate/internal/yamlfile"
)

// FitLinear is the law of a curve that is linear in the number.
const FitLinear = "linear"

// Limits of sweeps. What they multiply has its own limits.
const (
	maxSweeps      = 4
	maxSweepValues = 64
	maxParts       = 64
)

// number formats a value for names and settings.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// SweepOf finds a sweep by its parameter.
func (s *Spec) SweepOf(parameter string) (Sweep, bool) {
	return list.Find(s.Sweep, func(w Sweep) bool { return w.Parameter == parameter })
}

// Title returns the label of the sweep's axis.
func (w Sweep) Title() string {
	if w.Label != "" {
		return w.Label
	}
	return w.Parameter
}

// keeps reports whether a quick study keeps a point.
func (s *Spec) keeps(at Point) bool {
	for name, v := range at {
		if w, ok := s.SweepOf(name); ok && len(w.Quick) > 0 && !slices.Contains(w.Quick, v) {
			return false
		}
	}
	return true
}

// quickSweeps drops the points that a quick study skips, and their metrics.
// It keeps what the primary metric needs.
func (s *Spec) quickSweeps() {
	primary := s.Primary().Part
	s.Variants = slices.DeleteFunc(slices.Clone(s.Variants), func(v Variant) bool { return v.Name != s.Control && !s.keeps(v.At) })
	s.Parts = slices.DeleteFunc(slices.Clone(s.Parts), func(p Part) bool { return p.Name != primary && !s.keeps(p.At) })
	s.Metrics = slices.DeleteFunc(slices.Clone(s.Metrics), func(g Goal) bool {
		_, ok := s.Part(g.Part)
		return !ok
	})
}

func (s *Spec) checkSweeps() *yamlfile.Problem {
	if len(s.Sweep) > maxSweeps {
		return yamlfile.Wrong("sweep", "%d sweeps: a study has at most %d", len(s.Sweep), maxSweeps)
	}
	for i, w := range s.Sweep {
		if p := w.check(fmt.Sprintf("sweep[%d]", i)); p != nil {
			return p
		}
		if first, _ := s.SweepOf(w.Parameter); !slices.Equal(first.Values, w.Values) {
			return yamlfile.Wrong(fmt.Sprintf("sweep[%d]", i), "two sweeps vary parameter %q", w.Parameter)
		}
	}
	return nil
}

func (w Sweep) check(path string) *yamlfile.Problem {
	switch {
	case !parameterRE().MatchString(w.Parameter):
		return yamlfile.Wrong(path+".parameter", "parameter %q is not a name: lower-case letters, digits and underscores", w.Parameter).
			Advise("parameter: rules, and $rules where its value belongs")
	case len(w.Values) < 1 || len(w.Values) > maxSweepValues:
		return yamlfile.Wrong(path+".values", "%d values: a sweep has 1 to %d", len(w.Values), maxSweepValues).Advise("values: [1, 10, 100]")
	}
	if w.Fit != "" && w.Fit != FitLinear {
		return yamlfile.OneOf(path+".fit", w.Fit, FitLinear)
	}
	for i, v := range w.Values {
		at := fmt.Sprintf("%s.values[%d]", path, i)
		if math.IsNaN(v) || v < 0 || v > 1e12 {
			return yamlfile.Wrong(at, "value %g is not within 0 and 1e12", v)
		}
		if slices.Contains(w.Values[:i], v) {
			return yamlfile.Wrong(at, "value %s occurs twice", number(v))
		}
	}
	for i, v := range w.Quick {
		if !slices.Contains(w.Values, v) {
			return yamlfile.Wrong(fmt.Sprintf("%s.quick[%d]", path, i), "quick value %s is not one of the values", number(v)).
				Advise("quick is a choice of them; without it, a quick run takes all")
		}
	}
	return nil
}

// checkPoints refuses points of parameters that the study does not sweep.
func (s *Spec) checkPoints() *yamlfile.Problem {
	known, at := s.parameters(), map[string]Point{}
	for i, v := range s.Variants {
		at[fmt.Sprintf("variants[%d].at", i)] = v.At
	}
	for i, p := range s.Parts {
		at[fmt.Sprintf("parts[%d].at", i)] = p.At
	}
	for _, path := range slices.Sorted(maps.Keys(at)) {
		for _, name := range slices.Sorted(maps.Keys(at[path])) {
			if !slices.Contains(known, name) {
				return yamlfile.Wrong(path, "the study has no sweep of %q", name).Advise("add one, or remove at")
			}
			if v := at[path][name]; math.IsNaN(v) || v < 0 || v > 1e12 {
				return yamlfile.Wrong(path, "%s: %g is not within 0 and 1e12", name, v)
			}
		}
	}
	return nil
}

// curveOf returns the name of the curve that the points of a template form:
// the template's name without its parameters.
func curveOf(template string) string {
	name := reference().ReplaceAllString(template, "")
	for strings.Contains(name, "--") {
		name = strings.ReplaceAll(name, "--", "-")
	}
	return strings.Trim(name, "-._")
}

var (
	parameterRE = lazy.Regexp(`^[a-z][a-z0-9_]{0,31}$`)
	reference   = lazy.Regexp(`\$\{[a-z][a-z0-9_]*\}|\$[a-z][a-z0-9_]*`)
)

// notSwept extends a problem with advice where a name refers to a parameter that the study does not sweep.
func (s *Spec) notSwept(bad *yamlfile.Problem, name string) *yamlfile.Problem {
	ref := reference().FindString(name)
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

// ofItsOwn advises how to give two things of the same name distinct names.
func (s *Spec) ofItsOwn(at Point) string {
	if len(at) == 0 {
		return "give each a unique name"
	}
	return "a sweep makes one of each value: write $" + slices.Sorted(maps.Keys(at))[0] + " into the name"
}

// checkSwept refuses a sweep whose parameter no variant and no part uses.
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

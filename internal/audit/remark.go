package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/factexpr"
)

// Remark holds the texts of one of the audit's own checks: of a rule, or of a case of a rule, which inherits fields that it does
// not set. Texts contain values of the check in ${}.
type Remark struct {
	Kind     Kind     `yaml:"kind"`
	Severity Severity `yaml:"severity"`
	Action   Action   `yaml:"action"`
	// Class decides whether this finding or another at its place is reported.
	Class class `yaml:"class"`
	// Sources lists references; "record" stands for those of the name's record.
	Sources []string `yaml:"sources"`
	// Covers lists the rules whose less specific finding at the same place is dropped.
	Covers  []string `yaml:"covers"`
	Message string   `yaml:"message"`
	Why     string   `yaml:"why"`
	Fix     string   `yaml:"fix"`
	// Cases maps the check's names of cases to their remarks.
	Cases map[string]Remark `yaml:"cases"`
}

// with holds the values of a check that a remark's texts use.
type with map[string]string

// says returns the candidate for a case of a rule about a line.
func (a *auditor) says(rule, of string, l fact.Line, values with) candidate {
	all := a.Rules.Remarks[rule]
	r, ok := all.Cases[of]
	if !ok {
		a.fail(fmt.Errorf("no remark is known for the case %q of %s", of, rule))
	}
	if r.Covers == nil {
		r.Covers = all.Covers
	}
	if r.Sources == nil {
		r.Sources = all.Sources
	}
	value := func(name string) (string, error) {
		if v, ok := values[name]; ok {
			return v, nil
		}
		return a.ofLine(l, name)
	}
	text := func(own, rules string) string {
		filled, err := factexpr.Fill(cmp.Or(own, rules), value)
		a.fail(err)
		return filled
	}
	f := Finding{ID: rule + ":" + l.Name, Name: l.Name, Kind: cmp.Or(r.Kind, all.Kind), Severity: cmp.Or(r.Severity, all.Severity), Action: cmp.Or(r.Action, all.Action),
		Message: text(r.Message, all.Message), Why: text(r.Why, all.Why), Fix: text(r.Fix, all.Fix), Sources: a.read(r.Sources, l.Name)}
	return candidate{Finding: f.at(l), class: cmp.Or(r.Class, all.Class), covers: r.Covers}
}

// read returns a remark's sources.
func (a *auditor) read(sources []string, name string) []string {
	i := slices.Index(sources, "record")
	if i < 0 {
		return sources
	}
	rec, ok := a.c.Lookup(a.f.OS, name)
	if !ok {
		return slices.Delete(slices.Clone(sources), i, i+1)
	}
	return slices.Replace(slices.Clone(sources), i, i+1, rec.Sources...)
}

// ofLine returns a value that is available to every remark.
func (a *auditor) ofLine(l fact.Line, name string) (string, error) {
	switch name {
	case "name":
		return l.Name, nil
	case "value":
		return l.Value, nil
	case "file":
		return l.File, nil
	case "base":
		return base(l.File), nil
	case "line":
		return strconv.Itoa(l.Number), nil
	case "on":
		return a.on(), nil
	case "system":
		return osName(a.f.OS), nil
	case "consequence":
		return a.withoutIt(l), nil
	case "compare":
		if module, param, ok := strings.Cut(strings.TrimPrefix(l.Name, "module."), "."); ok && strings.HasPrefix(l.Name, "module.") {
			return "cat /sys/module/" + module + "/parameters/" + param, nil
		}
		return "sysctl -n " + l.Name, nil
	case "ask":
		return ask(a.f.OS, l.Name), nil
	}
	return "", fmt.Errorf("a remark names %q, which its check does not give", name)
}

// removeLine is the fix for a line that should be removed.
const removeLine = "Remove the line."

// called returns a line under another name.
func called(name string, l fact.Line) fact.Line {
	l.Name = name
	return l
}

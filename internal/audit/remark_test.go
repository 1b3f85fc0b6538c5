package audit

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"linerate/internal/sharedtest"

	"linerate/internal/fact"
)

// TestRemarks: each remark's class has a rank among the others, and a text that refers to an unknown
// value, or a check to an unknown case, is an error.
func TestRemarks(t *testing.T) {
	set, err := LoadRules(sharedtest.Catalogue())
	if err != nil {
		t.Fatal(err)
	}
	var weighed []class
	for _, p := range precedence {
		weighed = slices.Concat(weighed, p.by, p.over)
	}
	named := regexp.MustCompile(`^[a-z]+$`)
	for id, r := range set.Remarks {
		for of, c := range r.Cases {
			if x := c.Class; x != "" && !slices.Contains(weighed, x) || x == "" && !slices.Contains(weighed, r.Class) {
				t.Errorf("%s, %s: class %q is not weighed", id, of, x+r.Class)
			}
			for _, text := range []string{c.Message, c.Why, c.Fix} {
				for _, part := range strings.Split(text, "${")[1:] {
					if name, _, ok := strings.Cut(part, "}"); !ok || !named.MatchString(name) {
						t.Errorf("%s, %s: ${%s", id, of, part)
					}
				}
			}
		}
	}
	for of, want := range map[string]string{"dmesg": `names "says"`, "nosuch": `"nosuch"`} {
		a := &auditor{Input: Input{Rules: set}, f: &fact.Facts{OS: fact.Linux}}
		if a.says("LR-COMPLAINT", of, fact.Line{Name: "x"}, nil); len(a.errs) == 0 || !strings.Contains(a.errs[0].Error(), want) {
			t.Errorf("%s: %v", of, a.errs)
		}
	}
}

// TestRemarksThatLack: a remark without a part of a finding is refused.
func TestRemarksThatLack(t *testing.T) {
	whole := Remark{Kind: Range, Severity: Error, Action: Change, Class: outOfRange, Message: "m", Why: "w", Fix: "f", Cases: map[string]Remark{"x": {}}}
	if err := whole.check(); err != nil {
		t.Error(err)
	}
	for _, lack := range []func(*Remark){func(r *Remark) { r.Kind = "k" }, func(r *Remark) { r.Class = "" }, func(r *Remark) { r.Why = "" }, func(r *Remark) { r.Severity = "" }} {
		r := whole
		if lack(&r); r.check() == nil {
			t.Errorf("an incomplete remark is accepted: %+v", r)
		}
	}
}

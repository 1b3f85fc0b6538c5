package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"linerate/catalogue"
	"linerate/internal/role"
	"linerate/internal/sharedtest"
	"linerate/internal/tunable"
)

// Check checks that the advice is complete and refers only to names of the catalogue.
func (l *Library) Check(c *tunable.Catalogue) error {
	var errs []error
	for _, a := range l.Advice {
		if err := a.check(c); err != nil {
			errs = append(errs, fmt.Errorf("%s: %s: %w", a.File, a.Name(), err))
		}
	}
	for _, a := range l.Answers {
		if err := a.check(); err != nil {
			errs = append(errs, fmt.Errorf("answer to %s: %w", a.Need, err))
		}
	}
	return errors.Join(errs...)
}

// TestAdviceIsComplete: the catalogue's advice passes Check.
func TestAdviceIsComplete(t *testing.T) {
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	l, err := Load(sharedtest.Catalogue())
	if err := errors.Join(err, l.Check(c)); err != nil {
		t.Error(err)
	}
}

func (a *Advice) check(c *tunable.Catalogue) error {
	switch {
	case (a.Set == "") == (a.Leave == ""):
		return fmt.Errorf("wants one of set and leave")
	case a.Reason == "":
		return fmt.Errorf("lacks its reason")
	case len(a.Roles) == 0:
		return fmt.Errorf("lacks its roles")
	case a.Set != "" && (a.Value+a.Want == "" || a.Risk == ""):
		return fmt.Errorf("sets something, and lacks its value or risk")
	case a.Set != "" && !slices.Contains([]Basis{ByRole, Capacity, OnlyAdvice}, a.Basis):
		return fmt.Errorf("its basis %q is none: correctness, capacity or unmeasured", a.Basis)
	case a.Unless != "" && a.Otherwise == "":
		return fmt.Errorf("has unless without otherwise")
	case len(a.Bounds) > 0 && a.Want == "":
		return fmt.Errorf("has bounds, and lacks what is wanted")
	case len(a.Sources) == 0:
		return fmt.Errorf("lacks its sources")
	}
	for _, r := range a.Roles {
		if err := role.Check(r); err != nil {
			return err
		}
	}
	for _, n := range a.Needs {
		if !slices.Contains(needs, n) {
			return fmt.Errorf("needs %q, which nobody can give: %s", n, strings.Join(needs, ", "))
		}
	}
	if _, ok := c.Lookup(a.OS, a.Name()); !ok {
		return fmt.Errorf("is not in the catalogue of %q", a.OS)
	}
	return a.checkExpressions()
}

func (a *Advice) checkExpressions() error {
	conditions, texts := []string{a.When, a.Unless}, []string{a.Formula, a.Reason, a.Risk, a.Undo, a.Otherwise, a.Short}
	values := []string{a.Want, a.Value, a.Each}
	for _, b := range a.Bounds {
		if b.Most == "" || b.Reason == "" {
			return fmt.Errorf("a bound lacks its number or its reason")
		}
		conditions, values = append(conditions, b.When), append(values, b.Most)
	}
	return compile(conditions, values, texts)
}

func (a *Answer) check() error {
	if !slices.Contains(needs, a.Need) || a.Text == "" {
		return fmt.Errorf("wants one of %s, and a text", strings.Join(needs, ", "))
	}
	for _, r := range a.Roles {
		if err := role.Check(r); err != nil {
			return err
		}
	}
	return compile([]string{a.When}, nil, []string{a.Text})
}

// compile checks non-empty conditions, values and texts.
func compile(conditions, values, texts []string) error {
	l := language()
	for _, code := range conditions {
		if err := l.CheckCondition(code); err != nil {
			return err
		}
	}
	for _, code := range values {
		if code == "" {
			continue
		}
		if _, err := l.Compile(code); err != nil {
			return err
		}
	}
	for _, text := range texts {
		if err := l.CheckText(text); err != nil {
			return err
		}
	}
	return nil
}

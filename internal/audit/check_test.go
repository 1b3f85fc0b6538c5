package audit

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/sharedtest"
)

// Check checks that every rule, remark and list is complete, and reports mistakes with their file.
func (s *RuleSet) Check() error {
	var errs []error
	for i, r := range s.rules {
		if err := r.check(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %s: %w", r.file, r.ID, err))
		}
		if i > 0 && r.ID == s.rules[i-1].ID {
			errs = append(errs, fmt.Errorf("%s: %s: id is taken by %s", r.file, r.ID, s.rules[i-1].file))
		}
	}
	for id, r := range s.Remarks {
		if err := r.check(); err != nil {
			errs = append(errs, fmt.Errorf("remark %s: %w", id, err))
		}
	}
	for i, w := range s.Writes {
		if err := w.check(); err != nil {
			errs = append(errs, fmt.Errorf("write %d: %w", i+1, err))
		}
	}
	for i, w := range s.Writers {
		if err := w.check(); err != nil {
			errs = append(errs, fmt.Errorf("writer %d (%s): %w", i+1, w.Name, err))
		}
	}
	return errors.Join(errs...)
}

// TestRulesAreComplete: the catalogue's rules, remarks and lists pass Check.
func TestRulesAreComplete(t *testing.T) {
	set, err := LoadRules(sharedtest.Catalogue())
	if err := errors.Join(err, set.Check()); err != nil {
		t.Error(err)
	}
}

var ruleID = regexp.MustCompile(`^LR-[A-Z0-9]+(-[A-Z0-9]+)*$`)

func (r *Rule) check() error {
	switch {
	case !ruleID.MatchString(r.ID):
		return errors.New("id is not LR-WORDS in capitals")
	case !slices.Contains(kinds, r.Kind):
		return fmt.Errorf("kind %q is none of %v", r.Kind, kinds)
	case !slices.Contains(severities, r.Severity):
		return fmt.Errorf("severity %q is none of %v", r.Severity, severities)
	case !slices.Contains(actions, r.Action):
		return fmt.Errorf("action %q is none of %v", r.Action, actions)
	case !slices.Contains([]string{EachHost, EachLine, EachLost, EachNIC, EachShaper, EachCounter}, r.Each):
		return fmt.Errorf("each %q is none of host, line, lost, nic, shaper, counter", r.Each)
	case slices.Contains([]string{EachLine, EachLost, EachCounter}, r.Each) != (len(r.Names) > 0):
		return errors.New("names belong to rules over lines or counters, and those need them")
	case r.Message == "" || r.Why == "" || r.Fix == "" || len(r.Sources) == 0:
		return errors.New("needs message, why, fix and sources")
	case slices.ContainsFunc(r.Sets, func(s string) bool { return !strings.Contains(s, "=") }):
		return errors.New("sets are NAME=VALUE")
	case r.Each == EachHost && r.Name == "":
		return errors.New("a rule over the host needs a name")
	case r.OS != "freebsd" && r.OS != "linux" && r.OS != "":
		return fmt.Errorf("os %q is neither freebsd nor linux", r.OS)
	}
	for _, n := range r.Names {
		if _, err := path.Match(n, ""); err != nil {
			return fmt.Errorf("name %q is no pattern", n)
		}
	}
	return nil
}

// check refuses a remark with a case that lacks a part of a finding.
func (r Remark) check() error {
	for name, c := range r.Cases {
		kind, severity, action := cmp.Or(c.Kind, r.Kind), cmp.Or(c.Severity, r.Severity), cmp.Or(c.Action, r.Action)
		if !slices.Contains(kinds, kind) || !slices.Contains(severities, severity) || !slices.Contains(actions, action) || c.Class+r.Class == "" {
			return fmt.Errorf("%s: kind %q, severity %q, action %q or class %q is none", name, kind, severity, action, cmp.Or(c.Class, r.Class))
		}
		if c.Message+r.Message == "" || c.Why+r.Why == "" || c.Fix+r.Fix == "" {
			return fmt.Errorf("%s: needs message, why and fix", name)
		}
	}
	return nil
}

func (w *Write) check() error {
	switch {
	case len(w.Names) == 0 || len(w.Sources) == 0:
		return errors.New("a write needs names and sources")
	case w.Refused != "" && (w.Why == "" || w.Fix == ""):
		return errors.New("a refusal needs why and fix")
	case !w.One && w.Refused == "" && len(w.Sets) == 0:
		return errors.New("a write that does nothing")
	}
	for _, e := range w.Sets {
		if len(e.Names) == 0 || e.Value == "" || e.Why == "" {
			return errors.New("an effect needs names, value and why")
		}
	}
	for _, n := range w.Names {
		if _, err := path.Match(n, ""); err != nil {
			return fmt.Errorf("name %q is no pattern", n)
		}
	}
	return nil
}

func (w *Writer) check() error {
	switch {
	case w.Name == "" || w.When == "" || w.Fix == "" || len(w.Sources) == 0:
		return errors.New("a writer needs name, when, fix and sources")
	case w.OS != fact.Linux && w.OS != fact.FreeBSD:
		return fmt.Errorf("os %q is neither freebsd nor linux", w.OS)
	case len(w.Writes) > 0 && w.Present == "":
		return errors.New("what it writes by itself needs present")
	}
	for _, o := range w.Writes {
		if len(o.Names) == 0 || o.Only != "" && o.Only != fact.Raise {
			return errors.New("writes need names, and only is >")
		}
		for _, n := range o.Names {
			if _, err := path.Match(n, ""); err != nil || o.Value != "" && strings.ContainsAny(n, "*?[") {
				return fmt.Errorf("name %q is no pattern, or has a value", n)
			}
		}
	}
	return nil
}

package audit

import (
	"errors"
	"fmt"
	"strings"
)

// CheckExpressions compiles every expression of the rules, including those in texts.
func (s *RuleSet) CheckExpressions() error {
	var errs []error
	for _, r := range s.rules {
		for _, err := range []error{
			language().CheckCondition(r.When), language().CheckCondition(r.Worse), language().CheckText(r.Name),
			language().CheckText(r.Message), language().CheckText(r.Why), language().CheckText(r.Fix), language().CheckText(strings.Join(r.Sets, "\n")),
		} {
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %s: %w", r.file, r.ID, err))
			}
		}
	}
	for _, w := range s.Writes {
		if err := w.checkExpressions(); err != nil {
			errs = append(errs, fmt.Errorf("write of %s: %w", strings.Join(w.Names, ", "), err))
		}
	}
	for _, w := range s.Writers {
		errs = append(errs, w.checkExpressions())
	}
	return errors.Join(errs...)
}

// checkExpressions compiles a writer's conditions and values.
func (w *Writer) checkExpressions() error {
	err := writersLanguage().CheckCondition(w.Present)
	for _, o := range w.Writes {
		err = errors.Join(err, writersLanguage().CheckCondition(o.When), writersLanguage().CheckText(o.Value))
	}
	if err != nil {
		return fmt.Errorf("writer %s: %w", w.Name, err)
	}
	return nil
}

// checkExpressions compiles the conditions and texts of a write.
func (w *Write) checkExpressions() error {
	errs := []error{language().CheckCondition(w.Refused), language().CheckText(w.Why), language().CheckText(w.Fix)}
	for _, e := range w.Sets {
		errs = append(errs, language().CheckCondition(e.When), language().CheckText(e.Value), language().CheckText(e.Why))
	}
	return errors.Join(errs...)
}

// Hidden reports whether suppressions hide a finding.
func Hidden(f Finding, by []Suppression) bool {
	_, hidden, _ := (&Input{Suppressions: by}).suppress([]Finding{f})
	return len(hidden) > 0
}

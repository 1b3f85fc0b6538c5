package audit

import (
	"errors"
	"fmt"

	"linerate/internal/list"
	"linerate/internal/pack"
)

// packedRules is the packed form of a rule set, for a fast start.
type packedRules struct {
	Rules []*Rule
	Lists Lists
}

// PackRules encodes a rule set without its examples, which only tests use.
func PackRules(s *RuleSet) ([]byte, error) {
	p := packedRules{Lists: s.Lists}
	for _, r := range s.rules {
		x := *r
		x.Fires, x.Silent, x.file = nil, nil, ""
		p.Rules = append(p.Rules, &x)
	}
	p.Lists.Writers = list.Map(p.Lists.Writers, func(w *Writer) *Writer {
		x := *w
		x.Fires, x.Silent = nil, nil
		return &x
	})
	b, err := pack.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("rules: %w", err)
	}
	return b, nil
}

// UnpackRules decodes the output of PackRules. It returns an error if the format differs.
func UnpackRules(b []byte) (*RuleSet, error) {
	p, ok := pack.Open[packedRules](b)
	if !ok {
		return nil, errors.New("the packed rules have a format that this program does not read")
	}
	return &RuleSet{rules: p.Rules, Lists: p.Lists}, nil
}

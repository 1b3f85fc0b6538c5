package tunable

import (
	"errors"
	"fmt"

	"linerate/internal/pack"
)

// compiled is a catalogue as it is packed for a fast start: YAML takes a
// hundred times as long to read.
type compiled struct {
	Records  []*Record
	Claims   []Claims
	Concepts []Concept

	Conditions []Condition
	Beside     [][]byte
}

// Compile packs a catalogue with what else was made of its files: the rules of its
// audits, which package audit packs, the advice of plans, which package plan does, and evidence.
func (c *Catalogue) Compile(beside ...[]byte) ([]byte, error) {
	b, err := pack.Marshal(compiled{c.Records, c.Claims, c.Concepts, c.Conditions, beside})
	if err != nil {
		return nil, fmt.Errorf("compile the catalogue: %w", err)
	}
	return pack.Compress(b)
}

// Unpack reads what Compile made; an error says that it is broken or of records of
// another shape.
func Unpack(b []byte) (c *Catalogue, beside [][]byte, err error) {
	body, err := pack.Expand(b)
	if err != nil {
		return nil, nil, fmt.Errorf("unpack the catalogue: %w", err)
	}
	p, ok := pack.Open[compiled](body)
	if !ok {
		return nil, nil, errors.New("the packed catalogue has another shape than this program's")
	}
	c = &Catalogue{Records: p.Records, Claims: p.Claims, Concepts: p.Concepts, Conditions: p.Conditions}
	c.index()
	return c, p.Beside, nil
}

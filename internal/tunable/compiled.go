package tunable

import (
	"errors"
	"fmt"

	"linerate/internal/pack"
)

// compiled is the packed form of a catalogue, for a fast start: parsing YAML takes a hundred times
// as long.
type compiled struct {
	Records  []*Record
	Claims   []Claims
	Concepts []Concept

	Conditions []Condition
	Beside     [][]byte
}

// Compile packs a catalogue with other data made from its files: the rules packed by package audit,
// the advice packed by package plan, and evidence.
func Compile(c *Catalogue, beside ...[]byte) ([]byte, error) {
	b, err := pack.Marshal(compiled{c.Records, c.Claims, c.Concepts, c.Conditions, beside})
	if err != nil {
		return nil, fmt.Errorf("compile the catalogue: %w", err)
	}
	return pack.Compress(b)
}

// Unpack decodes the output of Compile. It returns an error for damaged data, or records of a
// different format.
func Unpack(b []byte) (c *Catalogue, beside [][]byte, err error) {
	body, err := pack.Expand(b)
	if err != nil {
		return nil, nil, fmt.Errorf("unpack the catalogue: %w", err)
	}
	p, ok := pack.Open[compiled](body)
	if !ok {
		return nil, nil, errors.New("the packed catalogue has a format that this program does not read")
	}
	c = &Catalogue{Records: p.Records, Claims: p.Claims, Concepts: p.Concepts, Conditions: p.Conditions}
	c.index()
	return c, p.Beside, nil
}

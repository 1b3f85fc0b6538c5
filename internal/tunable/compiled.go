package tunable

import (
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

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

// maxCompiled bounds what a compiled catalogue may unpack to.
const maxCompiled = 64 << 20

// Compile packs a catalogue with what else was made of its files: the rules of its
// audits, which package audit packs, and the advice of plans, which package plan does.
func (c *Catalogue) Compile(beside ...[]byte) ([]byte, error) {
	b, err := pack.Marshal(compiled{c.Records, c.Claims, c.Concepts, c.Conditions, beside})
	if err != nil {
		return nil, fmt.Errorf("compile the catalogue: %w", err)
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return z.EncodeAll(b, nil), nil
}

// Unpack reads what Compile made; an error says that it is broken or of records of
// another shape.
func Unpack(b []byte) (c *Catalogue, beside [][]byte, err error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxCompiled))
	if err != nil {
		return nil, nil, err
	}
	defer z.Close()
	body, err := z.DecodeAll(b, nil)
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

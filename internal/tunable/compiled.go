package tunable

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"

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

// Digest is the hash of a catalogue's files, names and contents, and of the
// rules and advice.
func Digest(fsys fs.FS) (string, error) {
	files, err := listFiles(fsys)
	if err != nil {
		return "", err
	}
	var names []string
	for _, beside := range []string{"rules/*.yaml", "plans/*.yaml"} {
		more, err := fs.Glob(fsys, beside)
		if err != nil {
			return "", err
		}
		names = append(names, more...)
	}
	for _, f := range files {
		names = append(names, f.name)
	}
	h := sha256.New()
	for _, name := range names {
		b, err := fs.ReadFile(fsys, name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n", name, len(b))
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// heading is the first line of a compiled catalogue: of which files it was made.
func heading(digest string) string { return fmt.Sprintf("linerate catalogue %s\n", digest) }

// Compile packs a catalogue read from files with this digest, and what else was
// made of them: the rules of its audits, which package audit packs, and the advice
// of plans, which package plan does.
func (c *Catalogue) Compile(digest string, beside ...[]byte) ([]byte, error) {
	b, err := pack.Marshal(compiled{c.Records, c.Claims, c.Concepts, c.Conditions, beside})
	if err != nil {
		return nil, fmt.Errorf("compile the catalogue: %w", err)
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return z.EncodeAll(b, []byte(heading(digest))), nil
}

// Unpack reads what Compile made. ok is false when it was made from other
// files than those with the digest, or for records of another shape.
func Unpack(b []byte, digest string) (c *Catalogue, beside [][]byte, ok bool) {
	body, ok := bytes.CutPrefix(b, []byte(heading(digest)))
	if !ok {
		return nil, nil, false
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxCompiled))
	if err != nil {
		return nil, nil, false
	}
	defer z.Close()
	if body, err = z.DecodeAll(body, nil); err != nil {
		return nil, nil, false
	}
	p, ok := pack.Open[compiled](body)
	if !ok {
		return nil, nil, false
	}
	c = &Catalogue{Records: p.Records, Claims: p.Claims, Concepts: p.Concepts, Conditions: p.Conditions}
	c.fillTables()
	return c, p.Beside, true
}

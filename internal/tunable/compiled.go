package tunable

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"reflect"

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

// heading is the first line of a compiled catalogue: of which files it was
// made, and for which shape of records.
func heading(digest string) string {
	return fmt.Sprintf("linerate catalogue %s %x\n", digest, pack.Fingerprint(reflect.TypeFor[compiled]()))
}

// Compile packs a catalogue read from files with this digest, and what else was
// made of them: the rules of its audits, which package audit packs, and the advice
// of plans, which package plan does.
func (c *Catalogue) Compile(digest string, beside ...[]byte) ([]byte, error) {
	records, err := pack.Marshal(compiled{c.Records, c.Claims, c.Concepts, c.Conditions})
	if err != nil {
		return nil, fmt.Errorf("compile the catalogue: %w", err)
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	var all []byte
	for _, part := range append([][]byte{records}, beside...) {
		all = append(binary.AppendUvarint(all, uint64(len(part))), part...)
	}
	return z.EncodeAll(all, []byte(heading(digest))), nil
}

// Unpack reads what Compile made. ok is false when it was made from other
// files than those with the digest, or for records of another shape.
func Unpack(b []byte, digest string) (c *Catalogue, beside [][]byte, ok bool, err error) {
	body, ok := bytes.CutPrefix(b, []byte(heading(digest)))
	if !ok {
		return nil, nil, false, nil
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxCompiled))
	if err != nil {
		return nil, nil, false, err
	}
	defer z.Close()
	all, err := z.DecodeAll(body, nil)
	if err != nil {
		return nil, nil, false, fmt.Errorf("compiled catalogue: %w", err)
	}
	var parts [][]byte
	for len(all) > 0 {
		size, n := binary.Uvarint(all)
		if n <= 0 || size > uint64(len(all)-n) {
			return nil, nil, false, fmt.Errorf("compiled catalogue: cut short")
		}
		parts, all = append(parts, all[n:n+int(size)]), all[n+int(size):]
	}
	if len(parts) == 0 {
		return nil, nil, false, fmt.Errorf("compiled catalogue: cut short")
	}
	var p compiled
	if err := pack.Unmarshal(parts[0], &p); err != nil {
		return nil, nil, false, fmt.Errorf("compiled catalogue: %w", err)
	}
	c = &Catalogue{Records: p.Records, Claims: p.Claims, Concepts: p.Concepts, Conditions: p.Conditions}
	c.fillTables()
	return c, parts[1:], true, nil
}

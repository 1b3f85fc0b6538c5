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
}

// maxCompiled bounds what a compiled catalogue may unpack to.
const maxCompiled = 64 << 20

// Digest is the hash of a catalogue's files, names and contents, and of the
// rules beside them.
func Digest(fsys fs.FS) (string, error) {
	files, err := listFiles(fsys)
	if err != nil {
		return "", err
	}
	names, err := fs.Glob(fsys, "rules/*.yaml")
	if err != nil {
		return "", err
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

// Compile packs a catalogue read from files with this digest, and the rules
// of its audits, which package audit packs.
func (c *Catalogue) Compile(digest string, rules []byte) ([]byte, error) {
	records, err := pack.Marshal(compiled{c.Records, c.Claims, c.Concepts})
	if err != nil {
		return nil, fmt.Errorf("compile the catalogue: %w", err)
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	both := binary.AppendUvarint(nil, uint64(len(records)))
	return z.EncodeAll(append(append(both, records...), rules...), []byte(heading(digest))), nil
}

// Unpack reads what Compile made. ok is false when it was made from other
// files than those with the digest, or for records of another shape.
func Unpack(b []byte, digest string) (c *Catalogue, rules []byte, ok bool, err error) {
	body, ok := bytes.CutPrefix(b, []byte(heading(digest)))
	if !ok {
		return nil, nil, false, nil
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxCompiled))
	if err != nil {
		return nil, nil, false, err
	}
	defer z.Close()
	both, err := z.DecodeAll(body, nil)
	if err != nil {
		return nil, nil, false, fmt.Errorf("compiled catalogue: %w", err)
	}
	size, n := binary.Uvarint(both)
	if n <= 0 || size > uint64(len(both)-n) {
		return nil, nil, false, fmt.Errorf("compiled catalogue: cut short")
	}
	var p compiled
	if err := pack.Unmarshal(both[n:n+int(size)], &p); err != nil {
		return nil, nil, false, fmt.Errorf("compiled catalogue: %w", err)
	}
	c = &Catalogue{Records: p.Records, Claims: p.Claims, Concepts: p.Concepts}
	c.fillTables()
	return c, both[n+int(size):], true, nil
}

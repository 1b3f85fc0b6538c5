package tunable

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
)

// compiled is a catalogue as one JSON document, for a fast start: YAML takes
// a hundred times as long to read.
type compiled struct {
	// Digest is of the YAML files it was made from.
	Digest   string
	Records  []*Record
	Claims   []Claims
	Concepts []Concept
}

// maxCompiled bounds what a compiled catalogue may unpack to.
const maxCompiled = 64 << 20

// Digest is the hash of a catalogue's files, names and contents.
func Digest(fsys fs.FS) (string, error) {
	files, err := listFiles(fsys)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, f := range files {
		b, err := fs.ReadFile(fsys, f.name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n", f.name, len(b))
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Compile packs a catalogue read from files with this digest.
func (c *Catalogue) Compile(digest string) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	err = json.NewEncoder(z).Encode(compiled{digest, c.Records, c.Claims, c.Concepts})
	if err != nil {
		return nil, fmt.Errorf("compile the catalogue: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Unpack reads what Compile made. ok is false when it was made from other
// files than those with the digest.
func Unpack(b []byte, digest string) (c *Catalogue, ok bool, err error) {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, false, fmt.Errorf("compiled catalogue: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(z, maxCompiled))
	if err != nil {
		return nil, false, fmt.Errorf("compiled catalogue: %w", err)
	}
	if !bytes.HasPrefix(text, []byte(`{"Digest":"`+digest+`"`)) {
		return nil, false, nil
	}
	var p compiled
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, false, fmt.Errorf("compiled catalogue: %w", err)
	}
	c = &Catalogue{Records: p.Records, Claims: p.Claims, Concepts: p.Concepts}
	return c, true, c.index()
}

package study

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
)

// RawFile is the file of slices that a trial was derived from, with its
// SHA-256 in hex; ok is false where there is none.
func RawFile(t *Trial) (name, sha256 string, ok bool) {
	o := t.Saw().Interleaved
	if o == nil || o.Raw == "" {
		return "", "", false
	}
	return o.Raw, o.SHA256, true
}

// RawName is the name of an instance's file in the study's directory.
func (in Instance) RawName() string {
	return fmt.Sprintf("slices-%s-%d-%d.csv.gz", in.Part, in.Block, in.Attempt)
}

// rawColumns are those of an instance's file. Time runs on from line to line:
// after_us is how long after the last slice's beginning this one began.
const rawColumns = "lane,flags,frames,ns,after_us"

// Encode writes an instance as gzipped CSV behind one line of JSON that says
// what it is. The same instance gives the same bytes.
func (in Instance) Encode() ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	head, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("write the slices of block %d: %w", in.Block, err)
	}
	w := bufio.NewWriter(z)
	fmt.Fprintf(w, "# %s\n%s\n", head, rawColumns)
	var last uint32
	for _, s := range in.Slices {
		fmt.Fprintf(w, "%d,%d,%d,%d,%d\n", s.Lane, s.Flags, s.Frames, s.NS, s.At-last)
		last = s.At
	}
	if err := errors.Join(w.Flush(), z.Close()); err != nil {
		return nil, fmt.Errorf("write the slices of block %d: %w", in.Block, err)
	}
	return b.Bytes(), nil
}

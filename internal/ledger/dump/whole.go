// Package dump copies whole ledgers between machines.
package dump

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/show"
)

// Row is one line of a ledger's dump; exactly one field is set, with Table for Doc.
type Row struct {
	Entry *ledger.Entry   `json:"entry,omitempty"`
	Table string          `json:"table,omitempty"` // of Doc
	Doc   json.RawMessage `json:"doc,omitempty"`
	Blob  *ledger.Blob    `json:"blob,omitempty"`
	End   *End            `json:"end,omitempty"`
}

// End is a dump's last line; without it the dump was truncated.
type End struct {
	Entries int64  `json:"entries"`
	Head    string `json:"head"`   // hash of the last entry
	SHA256  string `json:"sha256"` // of all bytes before this line
}

// writer writes and hashes a dump's lines.
type writer struct {
	enc *json.Encoder
	sum hash.Hash
}

func newWriter(w io.Writer) *writer {
	sum := sha256.New()
	enc := json.NewEncoder(io.MultiWriter(w, sum))
	enc.SetEscapeHTML(false)
	return &writer{enc, sum}
}

// All writes a whole ledger as JSON lines: each entry, its rows, and the files of
// linerate's own studies, from which Load derives their verdicts. If raw is set, it
// also writes every other file that the ledger stores.
func All(ctx context.Context, w io.Writer, s ledger.Reader, raw bool) error {
	byEntry := map[int64][]ledger.Row{}
	for _, t := range ledger.Tables {
		err := s.Rows(ctx, t.Name, func(r ledger.Row) error {
			byEntry[r.Entry] = append(byEntry[r.Entry], r)
			return nil
		})
		if err != nil {
			return err
		}
	}
	out, last, done := newWriter(w), ledger.Entry{}, map[string]bool{}
	err := s.Entries(ctx, func(e ledger.Entry) error {
		last = e
		if err := out.enc.Encode(Row{Entry: &e}); err != nil {
			return err
		}
		for _, r := range byEntry[e.Seq] {
			if err := out.enc.Encode(Row{Table: r.Table, Doc: r.Doc}); err != nil {
				return err
			}
			if err := out.blob(ctx, s, r, raw, done); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return out.enc.Encode(Row{End: &End{last.Seq, last.Hash, hex.EncodeToString(out.sum.Sum(nil))}})
}

// blob writes the bytes to which a row of sources refers, once.
func (w *writer) blob(ctx context.Context, s ledger.Reader, r ledger.Row, raw bool, done map[string]bool) error {
	var f ledger.Source
	if r.Table != "sources" {
		return nil
	}
	if err := json.Unmarshal(r.Doc, &f); err != nil {
		return fmt.Errorf("source %s: %w", r.ID, err)
	}
	if f.SHA256 == "" || done[f.SHA256] || !raw && !f.OfRecord() {
		return nil
	}
	done[f.SHA256] = true
	b, err := s.Blob(ctx, f.SHA256)
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		return nil // only its hash is known
	case err != nil:
		return fmt.Errorf("raw bytes %s: %w", f.SHA256, err)
	}
	return w.enc.Encode(Row{Blob: &b})
}

// maxLine bounds the length of a dump's line.
const maxLine = 512 << 20

// Load adds the entries of a dump that the ledger lacks, either all or none; added
// counts them. It refuses a dump that All did not write: it checks every line, record
// and link of the chain against its hash, and every verdict against its trials.
func Load(ctx context.Context, in io.Reader, s ledger.Store) (added int, err error) {
	d := loading{lines: bufio.NewReaderSize(in, 1<<16), sum: sha256.New(), blobs: map[string]*ledger.Blob{}}
	for !d.ended {
		d.line++
		if err := d.next(); err != nil {
			return 0, fmt.Errorf("line %d: %w", d.line, err)
		}
	}
	if err := ledger.CheckDerived(d.batches, d.blobs); err != nil {
		return 0, err
	}
	return s.Append(ctx, d.batches...)
}

// loading is a dump being read.
type loading struct {
	lines   *bufio.Reader
	line    int
	sum     hash.Hash // of the previous lines
	batches []*ledger.Batch
	blobs   map[string]*ledger.Blob
	entry   ledger.Entry // of the last batch
	prev    ledger.Entry // the entry before
	ended   bool
}

func (d *loading) next() error {
	text, err := d.read()
	if err != nil {
		return err
	}
	var r Row
	if err := json.Unmarshal(text, &r); err != nil {
		return notDump(err)
	}
	switch {
	case r.End != nil:
		return d.end(r.End)
	case r.Entry != nil:
		if err := d.seal(); err != nil {
			return err
		}
		d.prev, d.entry = d.entry, *r.Entry
		d.batches = append(d.batches, &ledger.Batch{Kind: r.Entry.Kind, Ref: r.Entry.Ref, Time: r.Entry.Time})
	case len(d.batches) == 0:
		return notDump(errors.New("there is no entry before it"))
	case r.Blob != nil:
		if err := r.Blob.Check(); err != nil {
			return err
		}
		d.blobs[r.Blob.SHA256] = r.Blob
		last := d.batches[len(d.batches)-1]
		last.Blobs = append(last.Blobs, *r.Blob)
	default:
		if err := d.batches[len(d.batches)-1].Add(r.Table, r.Doc); err != nil {
			return err
		}
	}
	d.sum.Write(text)
	return nil
}

func notDump(err error) error {
	return hint.With(err, "give a file that linerate ledger export wrote")
}

// read reads one line with its newline, which a truncated line lacks.
func (d *loading) read() ([]byte, error) {
	var line []byte
	for {
		part, err := d.lines.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxLine {
			return nil, fmt.Errorf("line exceeds %s", show.Bytes(maxLine))
		}
		switch {
		case err == nil:
			return line, nil
		case errors.Is(err, io.EOF):
			return nil, notDump(errors.New("the dump ends here without its last line: it was cut off"))
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// seal checks the last batch against its entry.
func (d *loading) seal() error {
	if len(d.batches) == 0 {
		return nil
	}
	return d.batches[len(d.batches)-1].Check(d.entry, d.prev)
}

func (d *loading) end(end *End) error {
	if err := d.seal(); err != nil {
		return err
	}
	if end.Entries != d.entry.Seq || end.Head != d.entry.Hash {
		return fmt.Errorf("the dump says that it ends with entry %d (%.12s), not with entry %d (%.12s)", end.Entries, end.Head, d.entry.Seq, d.entry.Hash)
	}
	if end.SHA256 != hex.EncodeToString(d.sum.Sum(nil)) {
		return errors.New("the dump was changed: its lines do not have the hash it ends with")
	}
	if _, err := d.lines.ReadByte(); !errors.Is(err, io.EOF) {
		return errors.New("there is data after the dump's last line")
	}
	d.ended = true
	return nil
}

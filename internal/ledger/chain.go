package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"
)

// rowDigest covers a row's table, identifier and document.
func rowDigest(table string, id ID, doc []byte) string {
	h := sha256.New()
	io.WriteString(h, table+"\x00"+string(id)+"\x00") //nolint:errcheck // writing to a hash never fails
	h.Write(doc)
	return hex.EncodeToString(h.Sum(nil))
}

// rowsDigest covers an entry's rows in order.
type rowsDigest struct {
	h hash.Hash
	n int
}

func newRowsDigest() *rowsDigest { return &rowsDigest{h: sha256.New()} }

func (d *rowsDigest) add(digest string) {
	io.WriteString(d.h, digest) //nolint:errcheck // writing to a hash never fails
	d.n++
}

func (d *rowsDigest) sum() string { return hex.EncodeToString(d.h.Sum(nil)) }

// Seal computes the entry for a batch's rows that follows prev.
func Seal(b *Batch, rows []Row, prev Entry) Entry {
	d := newRowsDigest()
	for i := range rows {
		d.add(rows[i].Digest)
	}
	e := Entry{
		Seq: prev.Seq + 1, Kind: b.Kind, Ref: b.Ref, Time: b.Time.UTC().Truncate(time.Millisecond),
		Rows: len(rows), Digest: d.sum(), Prev: prev.Hash,
	}
	e.Hash = e.sum()
	return e
}

// sum returns the entry's hash, over everything in it except the hash itself.
func (e *Entry) sum() string {
	h := sha256.New()
	fmt.Fprintf(h, "linerate ledger 1\n%d\n%q\n%q\n%s\n%d\n%s\n%s\n",
		e.Seq, e.Kind, e.Ref, e.Time.UTC().Format(time.RFC3339Nano), e.Rows, e.Digest, e.Prev)
	return hex.EncodeToString(h.Sum(nil))
}

// Report is the result of verifying a ledger.
type Report struct {
	Version  int      `json:"version"`
	Place    string   `json:"place"`
	OK       bool     `json:"ok"`
	Entries  int64    `json:"entries"`
	Rows     int64    `json:"rows"`
	Blobs    int64    `json:"blobs"`
	Bytes    int64    `json:"raw_bytes"`
	Missing  int64    `json:"raw_missing"` // sources whose bytes are not stored here
	Head     string   `json:"head"`        // hash of the last entry, to be noted elsewhere
	Problems []string `json:"problems"`
}

const maxProblems = 100

func (r *Report) problem(format string, args ...any) {
	if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}

// Verify recomputes the whole chain: every row's digest from its document, its
// columns from the document, every entry's digest from its rows, every link, and
// every blob's hash from its bytes. If head, noted earlier, is not "", it must be
// among the entries, which shows that the end was not truncated.
func Verify(ctx context.Context, s Reader, head string) (*Report, error) {
	r := &Report{Version: 1, Place: s.Place(), Problems: []string{}}
	digests, err := r.rows(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := r.entries(ctx, s, digests, head); err != nil {
		return nil, err
	}
	if err := r.blobs(ctx, s); err != nil {
		return nil, err
	}
	r.OK = len(r.Problems) == 0
	return r, nil
}

// rows checks every row on its own, and computes the digests of entries.
func (r *Report) rows(ctx context.Context, s Reader) (map[int64]*rowsDigest, error) {
	digests := map[int64]*rowsDigest{}
	for _, t := range Tables {
		err := s.Rows(ctx, t.Name, func(row Row) error {
			r.Rows++
			if got := rowDigest(t.Name, row.ID, row.Doc); got != row.Digest {
				r.problem("%s %s: the record was changed after it was stored", t.Name, row.ID)
			}
			if want, err := t.cols(row.Doc); err != nil || !slices.Equal(want, row.Cols) {
				r.problem("%s %s: its columns do not say what its record says", t.Name, row.ID)
			}
			d := digests[row.Entry]
			if d == nil {
				d = newRowsDigest()
				digests[row.Entry] = d
			}
			d.add(row.Digest)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", t.Name, err)
		}
	}
	return digests, nil
}

// entries checks every link.
func (r *Report) entries(ctx context.Context, s Reader, digests map[int64]*rowsDigest, head string) error {
	var prev Entry
	found := head == ""
	err := s.Entries(ctx, func(e Entry) error {
		r.Entries++
		if e.Seq != prev.Seq+1 {
			r.problem("entry %d: follows entry %d: some are missing", e.Seq, prev.Seq)
		} else if e.Prev != prev.Hash {
			r.problem("entry %d: does not continue entry %d", e.Seq, prev.Seq)
		}
		if e.Hash != e.sum() {
			r.problem("entry %d: was changed after it was written", e.Seq)
		}
		d := digests[e.Seq]
		if d == nil {
			d = newRowsDigest()
		}
		if d.n != e.Rows || d.sum() != e.Digest {
			r.problem("entry %d (%s %s): its %d rows are not those it was sealed with (%d)", e.Seq, e.Kind, e.Ref, d.n, e.Rows)
		}
		delete(digests, e.Seq)
		prev, found = e, found || e.Hash == head
		return nil
	})
	for seq, d := range digests {
		r.problem("%d rows claim entry %d, which does not exist", d.n, seq)
	}
	if !found {
		r.problem("no entry has the hash %s: entries were cut off or rewritten since it was noted", head)
	}
	r.Head = prev.Hash
	return err
}

// blobs checks the raw bytes against their hashes.
func (r *Report) blobs(ctx context.Context, s Reader) error {
	have := map[string]bool{}
	err := s.Blobs(ctx, func(b Blob) error {
		r.Blobs++
		n, err := b.check()
		if err != nil {
			r.problem("%v", err)
		}
		r.Bytes += n
		have[b.SHA256] = true
		return nil
	})
	if err != nil {
		return fmt.Errorf("read raw bytes: %w", err)
	}
	return s.Rows(ctx, "sources", func(row Row) error {
		if sha := row.Cols[2]; sha != "" && !have[sha] {
			r.Missing++
		}
		return nil
	})
}

// maxBlob bounds the decompressed size of a blob.
const maxBlob = 256 << 20

var unzip, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBlob))

// Bytes returns the blob's decompressed bytes.
func (b *Blob) Bytes() ([]byte, error) {
	switch b.Encoding {
	case "raw":
		return b.Data, nil
	case "zstd":
		data, err := unzip.DecodeAll(b.Data, nil)
		if err != nil {
			return nil, fmt.Errorf("cannot be unpacked: %w", err)
		}
		return data, nil
	}
	return nil, fmt.Errorf("unknown encoding %q", b.Encoding)
}

// Check checks the bytes against the blob's hash.
func (b *Blob) Check() error {
	_, err := b.check()
	return err
}

// check also returns the number of bytes.
func (b *Blob) check() (int64, error) {
	data, err := b.Bytes()
	if err != nil {
		return 0, fmt.Errorf("raw bytes %s: %w", b.SHA256, err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != b.SHA256 {
		err = fmt.Errorf("raw bytes %s: do not have that hash", b.SHA256)
	}
	return int64(len(data)), err
}

// Package dump writes what is in a ledger to files that other programs read,
// and reads whole ledgers back from them.
package dump

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/show"
)

// Formats that evidence and trials can be written in; Markdown is for evidence
// only.
var Formats = []string{"jsonl", "csv", "parquet", "markdown"}

// EvidenceRow is one verdict, flat; numbers that are not known are null.
type EvidenceRow struct {
	Tunable       string   `json:"tunable"`
	Before        string   `json:"before"`
	After         string   `json:"after"`
	Alone         bool     `json:"alone"`
	Changes       string   `json:"changes"` // "name: before → after; …"
	OS            string   `json:"os"`
	Release       string   `json:"release"`
	Revision      string   `json:"revision"`
	Hardware      string   `json:"hardware"`
	CPU           string   `json:"cpu"`
	Cores         int64    `json:"cores"`
	NIC           string   `json:"nic"`
	Driver        string   `json:"driver"`
	Workload      string   `json:"workload"`
	Study         string   `json:"study"`
	StudyID       string   `json:"study_id"`
	VerdictID     string   `json:"verdict_id"`
	Metric        string   `json:"metric"`
	Unit          string   `json:"unit"`
	Control       string   `json:"control"`
	Variant       string   `json:"variant"`
	ControlMean   *float64 `json:"control_mean"`
	VariantMean   *float64 `json:"variant_mean"`
	EffectPercent *float64 `json:"effect_percent"`
	CILow         *float64 `json:"ci_low"`
	CIHigh        *float64 `json:"ci_high"`
	EffectPoints  *float64 `json:"effect_points"` // of shares
	PointsLow     *float64 `json:"points_low"`
	PointsHigh    *float64 `json:"points_high"`
	EffectNS      *float64 `json:"effect_ns"`
	N             int64    `json:"n"`
	P             *float64 `json:"p_value"`
	PHolm         *float64 `json:"p_holm"`
	Verdict       string   `json:"verdict"`
	Published     string   `json:"published"`
	Agrees        *bool    `json:"published_agrees"`
	Flags         string   `json:"flags"`
	Excluded      string   `json:"excluded"`
}

// Evidence turns lines into rows.
func Evidence(lines []ledger.Line) []EvidenceRow {
	out := make([]EvidenceRow, len(lines))
	for i := range lines {
		l := &lines[i]
		r := EvidenceRow{
			Tunable: l.Tunable, Before: l.Before, After: l.After, Alone: l.Alone, Changes: changes(l.Changes),
			OS: l.OS, Release: l.Release, Revision: l.Revision, Hardware: l.Hardware, CPU: l.CPU, Cores: int64(l.Cores),
			NIC: l.NIC, Driver: l.Driver, Workload: l.Workload, Study: l.Study, StudyID: string(l.StudyID), VerdictID: string(l.VerdictID),
			Metric: l.Metric, Unit: l.Unit, Control: l.Control, Variant: l.Variant, ControlMean: l.ControlMean.Pointer(), VariantMean: l.VariantMean.Pointer(),
			EffectPercent: l.EffectPercent.Pointer(), CILow: l.CILow.Pointer(), CIHigh: l.CIHigh.Pointer(),
			EffectPoints: l.EffectPoints.Pointer(), PointsLow: l.PointsLow.Pointer(), PointsHigh: l.PointsHigh.Pointer(), EffectNS: l.EffectNS.Pointer(), N: int64(l.N),
			P: l.P.Pointer(), PHolm: l.PHolm.Pointer(), Verdict: string(l.Verdict), Flags: strings.Join(l.Flags, "; "), Excluded: l.Excluded,
		}
		if l.Published != nil {
			r.Published, r.Agrees = l.Published.Verdict, &l.Published.Agrees
		}
		out[i] = r
	}
	return out
}

func changes(cs []ledger.Change) string {
	parts := make([]string, len(cs))
	for i, c := range cs {
		parts[i] = fmt.Sprintf("%s: %s → %s", c.Tunable, orDefault(c.Before), orDefault(c.After))
	}
	return strings.Join(parts, "; ")
}

func orDefault(s string) string {
	if s == "" {
		return "default"
	}
	return s
}

// TrialRow is one metric of one trial.
type TrialRow struct {
	Trial    string  `json:"trial"`
	Study    string  `json:"study"`
	StudyID  string  `json:"study_id"`
	Variant  string  `json:"variant"`
	Workload string  `json:"workload"`
	Block    int64   `json:"block"`
	Start    string  `json:"start"`
	Valid    bool    `json:"valid"`
	Reasons  string  `json:"reasons"`
	Flags    string  `json:"flags"`
	Metric   string  `json:"metric"`
	Value    float64 `json:"value"`
	Source   string  `json:"source"` // path of its first file
	SHA256   string  `json:"sha256"`
}

// Trials turns a study's trials into rows; a trial without metrics has one
// row without a metric.
func Trials(s *ledger.Study, ts []ledger.Trial) []TrialRow {
	var out []TrialRow
	for i := range ts {
		t := &ts[i]
		r := TrialRow{
			Trial: string(t.ID), Study: s.Name, StudyID: string(s.ID), Variant: t.Variant, Workload: t.Workload, Block: int64(t.Block),
			Valid: t.Valid, Reasons: strings.Join(t.Reasons, "; "), Flags: strings.Join(t.Flags, "; "),
		}
		if t.Start != nil {
			r.Start = t.Start.Format("2006-01-02T15:04:05Z07:00")
		}
		if len(t.Sources) > 0 {
			r.Source, r.SHA256 = t.Sources[0].Path, t.Sources[0].SHA256
		}
		if len(t.Metrics) == 0 {
			out = append(out, r)
		}
		for _, m := range sortedKeys(t.Metrics) {
			r.Metric, r.Value = m, t.Metrics[m]
			out = append(out, r)
		}
	}
	return out
}

// Write writes rows in a format.
func Write[T any](w io.Writer, format string, rows []T) error {
	switch format {
	case "jsonl":
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		for i := range rows {
			if err := enc.Encode(&rows[i]); err != nil {
				return err
			}
		}
		return nil
	case "csv":
		return writeCSV(w, rows)
	case "parquet":
		return writeParquet(w, rows)
	}
	return hint.Unknown("format", format, Formats)
}

// writeCSV writes a head line of the JSON names and a line for each row.
func writeCSV[T any](w io.Writer, rows []T) error {
	out := csv.NewWriter(w)
	names := fieldNames[T]()
	if err := out.Write(names); err != nil {
		return err
	}
	for i := range rows {
		if err := out.Write(fields(&rows[i], len(names))); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// Row is one line of a whole ledger's dump.
type Row struct {
	Entry *ledger.Entry   `json:"entry,omitempty"`
	Table string          `json:"table,omitempty"`
	Doc   json.RawMessage `json:"doc,omitempty"`
	Blob  *Blob           `json:"blob,omitempty"`
}

// Blob is raw bytes in a dump, base64 in JSON.
type Blob struct {
	SHA256   string `json:"sha256"`
	Size     int64  `json:"size"`
	Encoding string `json:"encoding"`
	Data     []byte `json:"data"`
}

// All writes a whole ledger as JSON lines, entry by entry: the entry, its
// rows, and the raw bytes its sources name.
func All(ctx context.Context, w io.Writer, s ledger.Reader, raw bool) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	byEntry := map[int64][]ledger.StoredRow{}
	for _, t := range ledger.Tables {
		err := s.Rows(ctx, t.Name, func(r ledger.StoredRow) error {
			byEntry[r.Entry] = append(byEntry[r.Entry], r)
			return nil
		})
		if err != nil {
			return err
		}
	}
	done := map[string]bool{}
	return s.Entries(ctx, func(e ledger.Entry) error {
		if err := enc.Encode(Row{Entry: &e}); err != nil {
			return err
		}
		for _, r := range byEntry[e.Seq] {
			if err := enc.Encode(Row{Table: r.Table, Doc: r.Doc}); err != nil {
				return err
			}
			if !raw || r.Table != "sources" {
				continue
			}
			if err := writeBlob(ctx, enc, s, r, done); err != nil {
				return err
			}
		}
		return nil
	})
}

func writeBlob(ctx context.Context, enc *json.Encoder, s ledger.Reader, r ledger.StoredRow, done map[string]bool) error {
	sha, _ := r.Cols[2].(string)
	if sha == "" || done[sha] {
		return nil
	}
	done[sha] = true
	b, err := s.Blob(ctx, sha)
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		return nil // bytes that are not kept here are not dumped
	case err != nil:
		return fmt.Errorf("raw bytes %s: %w", sha, err)
	}
	return enc.Encode(Row{Blob: &Blob{b.SHA256, b.Size, b.Encoding, b.Data}})
}

// maxLine bounds one line of a dump.
const maxLine = 512 << 20

// Load adds a dump's entries that the ledger lacks, each as an entry of its
// own chain; added counts them.
func Load(ctx context.Context, in io.Reader, s ledger.Store) (added int, err error) {
	dec := json.NewDecoder(&limited{r: in})
	var cur *ledger.Batch
	flush := func() error {
		if cur == nil {
			return nil
		}
		n, err := s.Append(ctx, cur)
		added += n
		return err
	}
	for n := 1; ; n++ {
		var r Row
		if err := dec.Decode(&r); err == io.EOF {
			return added, flush()
		} else if err != nil {
			return added, fmt.Errorf("record %d: %w", n, err)
		}
		if r.Entry != nil {
			if err := flush(); err != nil {
				return added, err
			}
			cur = &ledger.Batch{Kind: r.Entry.Kind, Ref: r.Entry.Ref, Time: r.Entry.Time}
			continue
		}
		if cur == nil {
			return added, hint.With(fmt.Errorf("record %d: no entry before it", n), "is this a file that linerate ledger export wrote with %s?", hint.Option("all", ""))
		}
		if err := add(cur, &r); err != nil {
			return added, fmt.Errorf("record %d: %w", n, err)
		}
	}
}

func add(b *ledger.Batch, r *Row) error {
	if r.Blob != nil {
		blob := ledger.Blob{SHA256: r.Blob.SHA256, Size: r.Blob.Size, Encoding: r.Blob.Encoding, Data: r.Blob.Data}
		if err := blob.Check(); err != nil {
			return err
		}
		b.Blobs = append(b.Blobs, blob)
		return nil
	}
	return b.Add(r.Table, r.Doc)
}

// limited stops a line without end.
type limited struct {
	r io.Reader
	n int
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for _, c := range p[:n] {
		if l.n++; c == '\n' {
			l.n = 0
		}
	}
	if l.n > maxLine {
		return n, fmt.Errorf("a line longer than %s", show.Bytes(maxLine))
	}
	return n, err
}

func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

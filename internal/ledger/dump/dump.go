// Package dump writes evidence and trials to files for other programs, and moves whole
// ledgers between machines.
package dump

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/ledger"
)

// Formats that evidence and trials can be written in; Markdown is for evidence
// only.
var Formats = []string{"jsonl", "csv", "markdown"}

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

func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

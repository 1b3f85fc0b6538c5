// Package dump writes evidence and trials to files for other programs, and moves whole
// ledgers between machines.
package dump

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/ledger"
)

// evidenceColumns are members of a line of evidence, as its JSON has them.
var evidenceColumns = strings.Fields(`tunable before after alone changes os release revision hardware cpu cores nic driver workload
	study study_id verdict_id metric unit control variant control_mean variant_mean effect_percent ci_low ci_high
	effect_points points_low points_high effect_ns n p_value p_holm verdict published flags excluded`)

// Evidence writes a row of CSV for each line; what is not known is empty.
func Evidence(w io.Writer, lines []ledger.Line) error {
	rows := [][]string{evidenceColumns}
	for i := range lines {
		text, err := json.Marshal(lines[i])
		if err != nil {
			return err
		}
		var members map[string]any
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber()
		if err := dec.Decode(&members); err != nil {
			return err
		}
		row := make([]string, len(evidenceColumns))
		for c, name := range evidenceColumns {
			row[c] = cell(members[name])
		}
		rows = append(rows, row)
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// cell is a value of JSON as a cell: of what was published the verdict, of a change
// "name: before → after".
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = cell(e)
		}
		return strings.Join(parts, "; ")
	case map[string]any:
		if name, ok := v["tunable"]; ok {
			return fmt.Sprintf("%s: %s → %s", name, cmp.Or(cell(v["before"]), "default"), cmp.Or(cell(v["after"]), "default"))
		}
		return cell(v["verdict"])
	}
	return fmt.Sprint(v)
}

// trialColumns are those of Trials.
var trialColumns = strings.Fields("trial study study_id variant workload block start valid reasons flags metric value source sha256")

// Trials writes a row of CSV for each metric of the studies' trials; a trial without metrics
// has one row without a metric.
func Trials(w io.Writer, studies []ledger.Study, of func(ledger.ID) ([]ledger.Trial, error)) error {
	out := csv.NewWriter(w)
	_ = out.Write(trialColumns) // Error tells
	for _, s := range studies {
		trials, err := of(s.ID)
		if err != nil {
			return err
		}
		for _, t := range trials {
			start, source := "", ledger.Ref{}
			if t.Start != nil {
				start = t.Start.Format("2006-01-02T15:04:05Z07:00")
			}
			if len(t.Sources) > 0 {
				source = t.Sources[0]
			}
			row := func(metric, value string) {
				_ = out.Write([]string{string(t.ID), s.Name, string(s.ID), t.Variant, t.Workload, strconv.Itoa(t.Block), start, strconv.FormatBool(t.Valid),
					strings.Join(t.Reasons, "; "), strings.Join(t.Flags, "; "), metric, value, source.Path, source.SHA256})
			}
			if len(t.Metrics) == 0 {
				row("", "")
			}
			for _, m := range slices.Sorted(maps.Keys(t.Metrics)) {
				row(m, strconv.FormatFloat(t.Metrics[m], 'g', -1, 64))
			}
		}
	}
	out.Flush()
	return out.Error()
}

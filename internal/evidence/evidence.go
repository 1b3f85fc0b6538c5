// Package evidence holds measurements of tunables as compact rows, stored with the
// catalogue and built into the program. A row is one verdict on one tunable: where and on
// what it was measured, with effect and interval. The ledger holds the trials behind the
// verdicts; a row only names its study.
package evidence

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// Row is one verdict on one tunable.
type Row struct {
	ID string `json:"-"` // of its verdict in the ledger
	Subject
	Workload string `json:"workload"`
	Metric   string `json:"metric"`
	Primary  bool   `json:"primary"` // the primary metric of the study
	Study    string `json:"study"`   // name, in the archive that Source names
	Source   string `json:"source"`  // where the study was read from
	// Better is the direction of improvement; "" if the metric determines it.
	Better       stats.Direction `json:"better"`
	stats.Result                 // files do not store its P: PHolm decides
	// Flags lists limitations: "generator-bound", "drift", …
	Flags []string `json:"flags"`

	// The following fields come from a ledger; files do not store them.
	StudyID   string     `json:"study_id"`         // of the study
	Started   time.Time  `json:"started,omitzero"` // start of its first trial; zero if not recorded
	Control   string     `json:"control"`          // names of the arms
	Variant   string     `json:"variant"`
	Label     string     `json:"label"`     // what the number does not represent
	Published *Published `json:"published"` // the author's conclusion; null if there is none
	Excluded  string     `json:"excluded"`  // the reason, if the verdict does not count
	Without   *Row       `json:"-"`         // the verdict without the Dropped excluded trials
	Dropped   int        `json:"trials_excluded"`
}

// ByOthers begins the label of other people's measurements, of which linerate only
// read the numbers: they never count as measured here, whatever the machine.
const ByOthers = "measured by others"

// Published is another author's conclusion from the same trials.
type Published struct {
	Source       string  `json:"source"` // file and line of the README
	Verdict      string  `json:"verdict"`
	Percent      float64 `json:"percent"`
	PercentError float64 `json:"percent_error"`
	Agrees       bool    `json:"agrees"` // with linerate's verdict
}

// lowerIsBetter returns the direction of the metric.
func (r Row) lowerIsBetter() bool {
	m, ok := study.MetricNamed(r.Metric)
	return r.Better == stats.LowerIsBetter || r.Better == "" && ok && m.LowerIsBetter
}

// Standing returns the verdict that counts: without the excluded trials, if there are any.
func (r Row) Standing() Row {
	if r.Without != nil {
		r.Result, r.Flags, r.Without = r.Without.Result, r.Without.Flags, nil
	}
	return r
}

// Reversed returns the verdict on the reverse change, from After to Before, by
// inverting the ratio and its interval.
func (r Row) Reversed() Row {
	back := func(n stats.Number) stats.Number {
		v, ok := n.Get()
		if !ok || v <= -100 {
			return stats.Number{}
		}
		return stats.Num(100 * (1/(1+v/100) - 1))
	}
	r.Subject = r.reversed()
	negative := func(n stats.Number) stats.Number {
		v, ok := n.Get()
		if !ok {
			return n
		}
		return stats.Num(-v)
	}
	adjusted := back(r.Adjusted)
	if r.InPoints() {
		adjusted = negative(r.Adjusted)
	}
	r.Effect = stats.Effect{EffectPercent: back(r.EffectPercent), CILow: back(r.CIHigh), CIHigh: back(r.CILow),
		EffectPoints: negative(r.EffectPoints), PointsLow: negative(r.PointsHigh), PointsHigh: negative(r.PointsLow), Adjusted: adjusted}
	switch r.Verdict {
	case stats.Better:
		r.Verdict = stats.Worse
	case stats.Worse:
		r.Verdict = stats.Better
	}
	return r
}

// columns are the columns of the text format, in order.
var columns = []string{"tunable", "before", "after", "alone", "os", "release", "cpu", "cores", "nic", "driver", "workload", "metric",
	"study", "effect_percent", "ci_low", "ci_high", "n", "p_holm", "verdict", "flags", "id"}

// heading is the first line of the text format; the source's line follows.
const (
	heading    = "# linerate evidence, version 1"
	sourceMark = "# source: "
)

// Limits on a file; the shipped ones are far below.
const (
	maxRows = 200_000
	maxLine = 64 << 10
)

// Format writes rows as text: tab-separated, sorted, with their source. The
// same rows always give the same bytes.
func Format(rows []Row, source string) []byte {
	rows = slices.Clone(rows)
	list.Sort(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Tunable, b.Tunable), cmp.Compare(a.CPU, b.CPU), cmp.Compare(a.Release, b.Release), cmp.Compare(a.Study, b.Study), cmp.Compare(a.ID, b.ID))
	})
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n%s%s\n%s\n", heading, sourceMark, clean(source), strings.Join(columns, "\t"))
	for _, r := range rows {
		cells := []string{r.Tunable, r.Before, r.After, strconv.FormatBool(r.Alone), r.OS, r.Release, r.CPU, strconv.Itoa(r.Cores), r.NIC, r.Driver, r.Workload, r.Metric,
			r.Study, digits(r.EffectPercent), digits(r.CILow), digits(r.CIHigh), strconv.Itoa(r.N), digits(r.PHolm), string(r.Verdict), strings.Join(r.Flags, "; "), r.ID}
		for i := range cells {
			cells[i] = clean(cells[i])
		}
		b.WriteString(strings.Join(cells, "\t") + "\n")
	}
	return b.Bytes()
}

func clean(s string) string { return strings.Join(strings.Fields(show.Clean(s)), " ") }

// digits formats four significant digits: a verdict is not more precise.
func digits(n stats.Number) string {
	v, ok := n.Get()
	if !ok {
		return ""
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// Parse parses the output of Format.
func Parse(text []byte) ([]Row, error) {
	sc := bufio.NewScanner(bytes.NewReader(text))
	sc.Buffer(nil, maxLine)
	source, line := "", 0
	var rows []Row
	for sc.Scan() {
		line++
		t := sc.Text()
		switch {
		case line == 1 && t != heading:
			return nil, fmt.Errorf("line 1: %.60q is not %q", t, heading)
		case line == 1 || line == 3:
		case line == 2:
			source, _ = strings.CutPrefix(t, sourceMark)
		case len(rows) == maxRows:
			return nil, fmt.Errorf("line %d: more than %d rows", line, maxRows)
		default:
			r, err := parseRow(t)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", line, err)
			}
			r.Source = source
			rows = append(rows, r)
		}
	}
	return rows, sc.Err()
}

func parseRow(t string) (Row, error) {
	c := strings.Split(t, "\t")
	if len(c) != len(columns) {
		return Row{}, fmt.Errorf("%d columns, want %d", len(c), len(columns))
	}
	r := Row{ID: c[20], Subject: Subject{Tunable: c[0], Before: c[1], After: c[2], Alone: c[3] == "true", OS: c[4], Release: c[5], CPU: c[6], NIC: c[8], Driver: c[9]},
		Workload: c[10], Metric: c[11], Primary: true, Study: c[12]}
	if c[19] != "" {
		r.Flags = strings.Split(c[19], "; ")
	}
	var err error
	number := func(column int) stats.Number {
		if c[column] == "" {
			return stats.Number{}
		}
		v, e := strconv.ParseFloat(c[column], 64)
		if e != nil {
			err = cmp.Or(err, fmt.Errorf("%s: %.40q is not a number", columns[column], c[column]))
		}
		return stats.Num(v)
	}
	whole := func(column int) int {
		v, e := strconv.Atoi(c[column])
		if e != nil {
			err = cmp.Or(err, fmt.Errorf("%s: %.40q is not a whole number", columns[column], c[column]))
		}
		return v
	}
	r.Cores, r.N, r.PHolm = whole(7), whole(16), number(17)
	r.Effect = stats.Effect{EffectPercent: number(13), CILow: number(14), CIHigh: number(15)}
	if r.Verdict, err = verdict(c[18], err); err != nil {
		return Row{}, err
	}
	return r, nil
}

func verdict(text string, before error) (stats.Verdict, error) {
	v, err := stats.ParseVerdict(text)
	return v, cmp.Or(before, err)
}

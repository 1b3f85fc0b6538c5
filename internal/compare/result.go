// Package compare reads samples from files (of numbers, CSV, JSON, benchmark
// output, a study's results) and shows how they differ: the job of ministat,
// with effect, interval, verdict, n and warnings. The statistics are those of
// package stats; this package reads and prints.
package compare

import (
	"fmt"
	"iter"
	"math"

	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/stats"
)

// Result is a comparison of samples with the first of them, ready to print.
type Result struct {
	Arms        []stats.Arm
	Comparisons []stats.Comparison
	Options     stats.Options
	Metric      string // of a study; "" for files
}

// Run compares the arms with the first. If paired is set, the n-th values of
// all arms form a block.
func Run(arms []stats.Arm, paired bool, opt stats.Options) (Result, error) {
	r := Result{Arms: arms, Options: opt}
	if len(arms) < 2 {
		return r, nil
	}
	if !paired {
		r.Comparisons = stats.CompareSamples(arms[0], arms[1:], opt)
		return r, nil
	}
	for _, a := range arms[1:] {
		if len(a.Values) != len(arms[0].Values) {
			return r, hint.With(hint.Usagef("%s has %d values, %s has %d", arms[0].Name, len(arms[0].Values), a.Name, len(a.Values)),
				"%s takes line n of every file as block n; leave it out when the values are not paired", hint.Option("paired", ""))
		}
	}
	r.Comparisons = stats.CompareBlocks(arms[0], arms[1:], opt)
	return r, nil
}

// Verdicts returns the verdicts of the comparisons, in order.
func (r Result) Verdicts() iter.Seq[stats.Verdict] {
	return func(yield func(stats.Verdict) bool) {
		for _, c := range r.Comparisons {
			if !yield(c.Verdict) {
				return
			}
		}
	}
}

// Document is the output of compare --json, described in
// docs/reference/compare.md.
type Document struct {
	Version     int                  `json:"version"`
	Confidence  float64              `json:"confidence_percent"`
	Better      stats.Direction      `json:"better"`
	Margin      float64              `json:"margin_percent"`
	Metric      string               `json:"metric,omitempty"`
	Sets        []SetDocument        `json:"sets"`
	Comparisons []ComparisonDocument `json:"comparisons"`
}

// SetDocument describes a sample.
type SetDocument struct {
	Name     string       `json:"name"`
	N        int          `json:"n"`
	Min      stats.Number `json:"min"`
	Max      stats.Number `json:"max"`
	Mean     stats.Number `json:"mean"`
	SD       stats.Number `json:"sd"`
	Median   stats.Number `json:"median"`
	MAD      stats.Number `json:"mad"`
	Outliers []int        `json:"outliers"` // indexes of values, from 1
}

// ComparisonDocument is the comparison of a sample with the control.
type ComparisonDocument struct {
	Control string `json:"control"`
	Variant string `json:"variant"`
	stats.Result
	PEquivalent stats.Number    `json:"p_equivalent_holm"`
	NControl    int             `json:"n_control"`
	NVariant    int             `json:"n_variant"`
	Difference  stats.Number    `json:"difference"`
	DiffLow     stats.Number    `json:"difference_low"`
	DiffHigh    stats.Number    `json:"difference_high"`
	MDE         stats.Number    `json:"minimum_detectable_effect_percent"`
	Design      stats.Design    `json:"design"`
	Method      string          `json:"method"`
	Scale       stats.Scale     `json:"scale"`
	Ministat    string          `json:"ministat"` // ministat's verdict at the same confidence, "" if it has none
	Warnings    []stats.Warning `json:"warnings"`
}

// Document returns the result for --json.
func (r Result) Document() Document {
	d := Document{
		Version: 1, Confidence: r.confidence(), Better: r.Options.Better, Margin: r.Options.MarginPercent,
		Metric: r.Metric, Sets: []SetDocument{}, Comparisons: []ComparisonDocument{},
	}
	for _, a := range r.Arms {
		d.Sets = append(d.Sets, setDocument(a))
	}
	for i, c := range r.Comparisons {
		d.Comparisons = append(d.Comparisons, r.comparison(c, r.Arms[i+1]))
	}
	return d
}

func (r Result) confidence() float64 { return math.Round(1e9*(100-100*r.Options.Alpha)) / 1e9 }

func setDocument(a stats.Arm) SetDocument {
	x := present(a.Values)
	s := stats.Summarise(x)
	d := SetDocument{
		Name: a.Name, N: s.N, Min: stats.Num(s.Min), Max: stats.Num(s.Max), Mean: stats.Num(s.Mean), SD: stats.Num(s.SD),
		Median: stats.Num(s.Median), MAD: stats.Num(s.MAD), Outliers: []int{},
	}
	for _, i := range stats.FindOutliers(x) {
		d.Outliers = append(d.Outliers, i+1)
	}
	return d
}

func (r Result) comparison(c stats.Comparison, arm stats.Arm) ComparisonDocument {
	d := ComparisonDocument{
		Control: c.Control, Variant: c.Variant, Result: c.Result(), PEquivalent: stats.Num(c.PEquivalentHolm),
		NControl: c.NControl, NVariant: c.NVariant,
		Difference: stats.Num(c.Difference.Estimate), DiffLow: stats.Num(c.Difference.Low), DiffHigh: stats.Num(c.Difference.High),
		MDE: stats.Num(c.DetectablePercent), Design: c.Design, Method: c.Method, Scale: c.Scale,
		Ministat: r.ministat(arm), Warnings: c.Warnings,
	}
	if d.Warnings == nil {
		d.Warnings = []stats.Warning{}
	}
	return d
}

// ministat returns what ministat would print for a sample at this confidence.
func (r Result) ministat(arm stats.Arm) string {
	d, err := Ministat(present(r.Arms[0].Values), present(arm.Values), r.confidence())
	switch {
	case err != nil:
		return ""
	case d.Proven:
		return fmt.Sprintf("Difference at %.1f%% confidence: %.6g%% +/- %.6g%%", d.Confidence, d.Percent, d.PercentError)
	}
	return fmt.Sprintf("No difference proven at %.1f%% confidence", d.Confidence)
}

func present(x []float64) []float64 {
	return list.Filter(x, func(v float64) bool { return !math.IsNaN(v) })
}

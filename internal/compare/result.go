package compare

import (
	"encoding/json"
	"fmt"
	"math"

	"linerate/internal/hint"
	"linerate/internal/stats"
	"linerate/internal/stats/ministat"
)

// Result is a comparison of samples with the first of them, ready to print.
type Result struct {
	Arms        []stats.Arm
	Comparisons []stats.Comparison
	Options     stats.Options
	Metric      string // of a study; "" for files
}

// Run compares the arms with the first. paired takes the n-th values of all
// as one block.
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
				"--paired takes line n of every file as block n; leave it out when the values are not paired")
		}
	}
	r.Comparisons = stats.CompareBlocks(arms[0], arms[1:], opt)
	return r, nil
}

// number is a JSON number, null when there is none.
type number float64

// MarshalJSON writes null for what JSON has no number for.
func (n number) MarshalJSON() ([]byte, error) {
	if f := float64(n); math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// Document is the --json output of compare, as docs/reference/compare.md
// describes it.
type Document struct {
	Version     int                  `json:"version"`
	Confidence  float64              `json:"confidence_percent"`
	Better      string               `json:"better"`
	Margin      float64              `json:"margin_percent"`
	Metric      string               `json:"metric,omitempty"`
	Sets        []SetDocument        `json:"sets"`
	Comparisons []ComparisonDocument `json:"comparisons"`
}

// SetDocument describes a sample.
type SetDocument struct {
	Name     string `json:"name"`
	N        int    `json:"n"`
	Min      number `json:"min"`
	Max      number `json:"max"`
	Mean     number `json:"mean"`
	SD       number `json:"sd"`
	Median   number `json:"median"`
	MAD      number `json:"mad"`
	Q1       number `json:"quartile1"`
	Q3       number `json:"quartile3"`
	Outliers []int  `json:"outliers"` // line numbers among the values, from 1
}

// ComparisonDocument is a sample against the control.
type ComparisonDocument struct {
	Control       string          `json:"control"`
	Variant       string          `json:"variant"`
	Verdict       stats.Verdict   `json:"verdict"`
	EffectPercent number          `json:"effect_percent"`
	Low           number          `json:"ci_low"`
	High          number          `json:"ci_high"`
	P             number          `json:"p_value"`
	PHolm         number          `json:"p_holm"`
	PEquivalent   number          `json:"p_equivalent_holm"`
	N             int             `json:"n"`
	NControl      int             `json:"n_control"`
	NVariant      int             `json:"n_variant"`
	Difference    number          `json:"difference"`
	DiffLow       number          `json:"difference_low"`
	DiffHigh      number          `json:"difference_high"`
	MDE           number          `json:"minimum_detectable_effect_percent"`
	ForOnePercent *int            `json:"n_for_one_percent"` // null: unknown, or over 10,000
	Design        stats.Design    `json:"design"`
	Method        string          `json:"method"`
	Scale         stats.Scale     `json:"scale"`
	MannWhitney   RankDocument    `json:"mann_whitney"`
	Permutation   number          `json:"p_permutation"`
	Ministat      string          `json:"ministat"` // ministat's verdict at the same confidence, "" where it has none
	Warnings      []stats.Warning `json:"warnings"`
}

// RankDocument is the rank test that stands beside.
type RankDocument struct {
	U         number `json:"u"`
	P         number `json:"p_value"`
	Exact     bool   `json:"exact"`
	SmallestP number `json:"smallest_p"`
	Shift     number `json:"shift"`
	ShiftLow  number `json:"shift_low"`
	ShiftHigh number `json:"shift_high"`
	Coverage  number `json:"shift_coverage"`
}

// Document returns the result for --json.
func (r Result) Document() Document {
	d := Document{
		Version: 1, Confidence: r.confidence(), Better: string(r.Options.Better), Margin: r.Options.MarginPercent,
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
		Name: a.Name, N: s.N, Min: number(s.Min), Max: number(s.Max), Mean: number(s.Mean), SD: number(s.SD),
		Median: number(s.Median), MAD: number(s.MAD), Q1: number(s.Quartile1), Q3: number(s.Quartile3), Outliers: []int{},
	}
	for _, i := range stats.FindOutliers(x) {
		d.Outliers = append(d.Outliers, i+1)
	}
	return d
}

func (r Result) comparison(c stats.Comparison, arm stats.Arm) ComparisonDocument {
	d := ComparisonDocument{
		Control: c.Control, Variant: c.Variant, Verdict: c.Verdict,
		EffectPercent: number(c.EffectPercent.Estimate), Low: number(c.EffectPercent.Low), High: number(c.EffectPercent.High),
		P: number(c.P), PHolm: number(c.PHolm), PEquivalent: number(c.PEquivalentHolm),
		N: c.N, NControl: c.NControl, NVariant: c.NVariant,
		Difference: number(c.Difference.Estimate), DiffLow: number(c.Difference.Low), DiffHigh: number(c.Difference.High),
		MDE: number(c.DetectablePercent), Design: c.Design, Method: c.Method, Scale: c.Scale,
		MannWhitney: RankDocument{
			U: number(c.Rank.U), P: number(c.Rank.P), Exact: c.Rank.Exact, SmallestP: number(c.Rank.Smallest),
			Shift: number(c.Rank.Shift.Estimate), ShiftLow: number(c.Rank.Shift.Low), ShiftHigh: number(c.Rank.Shift.High),
			Coverage: number(c.Rank.Shift.Level),
		},
		Permutation: number(c.Permutation.P), Ministat: r.ministat(arm), Warnings: c.Warnings,
	}
	if c.NForOnePercent > 0 {
		d.ForOnePercent = &c.NForOnePercent
	}
	if d.Warnings == nil {
		d.Warnings = []stats.Warning{}
	}
	return d
}

// ministat is what ministat would say of a sample at this confidence.
func (r Result) ministat(arm stats.Arm) string {
	d, err := ministat.Compare(present(r.Arms[0].Values), present(arm.Values), r.confidence(), ministat.New)
	switch {
	case err != nil:
		return ""
	case d.Proven:
		return fmt.Sprintf("Difference at %.1f%% confidence: %.6g%% +/- %.6g%%", d.Confidence, d.Percent, d.PercentError)
	}
	return fmt.Sprintf("No difference proven at %.1f%% confidence", d.Confidence)
}

func present(x []float64) []float64 {
	out := make([]float64, 0, len(x))
	for _, v := range x {
		if !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	return out
}

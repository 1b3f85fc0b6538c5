package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// ResultsVersion is the version of the results document.
const ResultsVersion = 1

// Results is the outcome of a study: DIR/results.json, described in
// docs/reference/results.md. Except for the environment, it is derived from
// study.yaml and trials.jsonl alone.
type Results struct {
	Version     int         `json:"version"`
	Study       string      `json:"study"`
	Question    string      `json:"question"`
	Seed        uint64      `json:"seed"`
	Environment Environment `json:"environment"`
	Trials      []Trial     `json:"trials"`
	Verdicts    []Verdict   `json:"verdicts"`
	AA          AAResult    `json:"aa"`
	// Curves are metrics over the study's sweeps.
	Curves []Curve `json:"curves,omitempty"`
	// Wire lists rates on a link, if the study states one.
	Wire []WireRate `json:"wire,omitempty"`
	// Ended is the guardrail that ended the study; null if none did.
	Ended *Ended `json:"ended,omitempty"`
	// MDE is the effect that the primary metric would detect with a power of
	// 0.8, from the scatter between the two arms of the control; null with
	// fewer than two complete blocks.
	MDE stats.Number `json:"minimum_detectable_effect_percent"`
	// NoiseFloor is the largest effect that the A/A arm's interval allows:
	// smaller effects cannot be told from zero.
	NoiseFloor stats.Number `json:"noise_floor_percent"`
	// The same in percentage points, if the primary metric is a share.
	MDEPoints        stats.Number `json:"minimum_detectable_effect_points,omitzero"`
	NoiseFloorPoints stats.Number `json:"noise_floor_points,omitzero"`
	// CarryOver shows how much interleaved arms affect the next arm.
	CarryOver []CarryOver `json:"carry_over"`
	// States shows what connection tracking did, if anything was tracked.
	States []States `json:"states,omitempty"`
	// Drops shows where the frames offered to each arm ended, by part.
	Drops []Drops `json:"drops"`
	// Beds are the testbeds on which the study ran, if there were several.
	Beds []BedShare `json:"testbeds,omitempty"`
	// Telemetry is what instruments recorded in separate runs.
	Telemetry   []Telemetry   `json:"telemetry,omitempty"`
	Complete    bool          `json:"complete"` // no trial is left to run
	Answer      string        `json:"answer"`   // one sentence
	Control     string        `json:"control"`
	Unavailable []Unavailable `json:"unavailable"`
	Warnings    []string      `json:"warnings"`
	Started     *time.Time    `json:"started"`
	Finished    *time.Time    `json:"finished"`
}

// Unavailable is a variant that the testbed cannot try.
type Unavailable struct {
	Variant string `json:"variant"`
	Reason  string `json:"reason"`
}

// Ended describes the end of a study by a guardrail: under which variant, and after
// how many of its valid pairs. It makes no statement about the metrics.
type Ended struct {
	Trip
	Variant string `json:"variant"`
	Pairs   int    `json:"pairs"`
	what    string // what Pairs counts, if not pairs
}

// Outcome describes the end in one sentence.
func (e Ended) Outcome() string {
	return fmt.Sprintf("guardrail %q ended the study under %s after %s, and the host was restored: %s", e.Guardrail, e.Variant, show.Plural(e.Pairs, cmp.Or(e.what, "pair")), e.Text)
}

// Verdict is the result of comparing one variant with the control by one
// metric. Numbers that cannot be computed are null.
type Verdict struct {
	Metric  string `json:"metric"`
	Part    string `json:"part"`
	Primary bool   `json:"primary"`
	Control string `json:"control"`
	Variant string `json:"variant"`
	// Result is the effect on the raw metric, with its 95 % interval; N
	// counts complete blocks.
	stats.Result
	// EffectNS is variant − control in ns: per packet for costs and rates, of
	// delay for latencies; null for ratios.
	EffectNS stats.Number `json:"effect_ns"`
	NSLow    stats.Number `json:"effect_ns_low"`
	NSHigh   stats.Number `json:"effect_ns_high"`

	// Difference is variant − control in the metric's unit, if the control is not
	// shown to differ from zero, so that there is no effect in percent.
	Difference     stats.Number `json:"effect_difference,omitzero"`
	DifferenceLow  stats.Number `json:"effect_difference_low,omitzero"`
	DifferenceHigh stats.Number `json:"effect_difference_high,omitzero"`

	Better        stats.Direction `json:"better"` // never undirected
	Unit          string          `json:"unit"`
	ControlMean   stats.Number    `json:"control_mean"`
	VariantMean   stats.Number    `json:"variant_mean"`
	MarginPercent float64         `json:"margin_percent"`
	MarginPoints  float64         `json:"margin_points,omitempty"`
	PEquivalent   stats.Number    `json:"p_equivalent_holm"`
	MDE           stats.Number    `json:"minimum_detectable_effect_percent"`
	// Interleaved is how the arms took turns.
	Interleaved Interleaving `json:"interleaved"`
	Method      string       `json:"method"`
	Scale       string       `json:"scale"`
	// Beds lists the effect on each of several testbeds; PBeds is the p-value for no difference
	// between them (stats.AmongGroups). Both are absent if there was one testbed.
	Beds  []BedEffect  `json:"by_testbed,omitempty"`
	PBeds stats.Number `json:"p_testbeds,omitzero"`
	// Late says whether a window affects the next one, on a live host.
	Late *Late `json:"late_effects,omitempty"`
	// Host is the gain of the whole host, if each connection drew its arm.
	Host     *HostEffect `json:"host,omitempty"`
	Warnings []string    `json:"warnings"`
}

// Late describes effects on a live host that outlast their window.
type Late struct {
	P     stats.Number `json:"p_value"` // for the hypothesis that there are none
	Short bool         `json:"windows_too_short,omitempty"`
}

// Text formats the effect, in the metric's unit if there is none in percent.
func (v Verdict) Text() string {
	if d, ok := v.Difference.Get(); ok {
		return v.inUnit(d, true)
	}
	return v.Effect.Text()
}

// Amount is Text without the direction.
func (v Verdict) Amount() string {
	if d, ok := v.Difference.Get(); ok {
		return v.inUnit(math.Abs(d), false)
	}
	return v.Effect.Amount()
}

// Bounds formats the interval of Text.
func (v Verdict) Bounds() string {
	if !v.Difference.Known() {
		return v.Effect.Bounds()
	}
	low, known := v.DifferenceLow.Get()
	high, both := v.DifferenceHigh.Get()
	if !known || !both {
		return show.Unknown
	}
	return "[" + v.inUnit(low, true) + ", " + v.inUnit(high, true) + "]"
}

func (v Verdict) inUnit(x float64, signed bool) string {
	text := ""
	switch {
	case signed && x > 0:
		text = "+"
	case x < 0:
		text, x = "−", -x
	}
	if v.Unit == "ns" {
		return text + show.Nanos(x)
	}
	return strings.TrimSpace(text + show.Digits(x) + " " + v.Unit)
}

// AAResult compares the control with itself by the primary metric: a single
// comparison, which needs no correction.
type AAResult struct {
	stats.Result
	Metric string `json:"metric"`
	// FalseAlarms are the other metrics by which the control appears to
	// differ from itself.
	FalseAlarms []string `json:"false_alarms"`
}

// Floor formats the noise floor.
func (r *Results) Floor() string { return sized(r.NoiseFloor, r.NoiseFloorPoints) }

// Detectable formats the minimum detectable effect. Shares differ by at most
// 100 points; if more is needed, nothing can be detected.
func (r *Results) Detectable() string {
	if r.MDEPoints.Float() > wholePoints {
		return fmt.Sprintf("none: shares differ by %d points at most", wholePoints)
	}
	return sized(r.MDE, r.MDEPoints)
}

// Plans reports whether the minimum detectable effect helps to plan a study: next to a difference
// that was found, it would only seem to contradict it.
func (r *Results) Plans() bool {
	return !slices.ContainsFunc(r.Verdicts, func(v Verdict) bool { return v.Primary }) ||
		slices.ContainsFunc(r.Verdicts, func(v Verdict) bool { return v.Primary && !v.Verdict.Differs() })
}

// wholePoints is the largest difference of two shares, in percentage points.
const wholePoints = 100

func sized(percent, points stats.Number) string {
	if points.Known() {
		return show.Optional(points, show.Points)
	}
	return show.Optional(percent, show.Percent)
}

// Margin formats the verdict's equivalence margin.
func (v *Verdict) Margin() string { return marginText(v.MarginPercent, v.MarginPoints) }

// ArmName returns the name of an arm for reports.
func (r Results) ArmName(arm string) string {
	if arm == AA {
		return r.Control + " again (A/A)"
	}
	return arm
}

// Arms lists the variants of a part in the order of the verdicts, after the
// control and its A/A arm.
func (r Results) Arms(part string) []string {
	out := []string{r.Control}
	for _, t := range r.Trials {
		if t.Part == part && t.Variant == AA {
			out = list.With(out, AA)
		}
	}
	for _, v := range r.Verdicts {
		if v.Part == part {
			out = list.With(out, v.Variant)
		}
	}
	for _, t := range r.Trials {
		if t.Part == part && t.Unavailable == "" {
			out = list.With(out, t.Variant)
		}
	}
	return out
}

// Values returns an arm's valid values of a metric in a part, without first exposures and rests.
func (r Results) Values(part, arm, metric string) []float64 {
	var out []float64
	for _, t := range r.Trials {
		if v, ok := t.Metrics[metric]; ok && t.Valid && t.Block > 0 && t.Part == part && t.Variant == arm {
			out = append(out, v)
		}
	}
	return out
}

// Measured lists the parts that have trials, in order.
func (r Results) Measured() []string {
	var out []string
	for _, t := range r.Trials {
		out = list.With(out, t.Part)
	}
	return out
}

package compare

import (
	"fmt"
	"io"
	"math"

	"linerate/internal/show"
	"linerate/internal/stats"
)

// page prints one result.
type page struct{ *show.Page }

// Print prints the result: the samples, a plot on a common axis, and for each
// comparison the verdict, the effect with its interval, and its limitations.
func (r Result) Print(w io.Writer, st show.Style) error {
	p := &page{show.NewPage(st)}
	t := show.Table{Header: []string{"", "n", "min", "median", "mean", "max", "SD"}, Right: show.NumbersAfter(1)}
	var strips []show.Strip
	for _, a := range r.Arms {
		x := present(a.Values)
		s, name := stats.Summarise(x), show.KeepEnd(show.Clean(a.Name), 24) // keep the end of a path, which distinguishes it
		t.Add(name, show.Count(s.N), show.Value(s.Min), show.Value(s.Median), show.Value(s.Mean), show.Value(s.Max), show.Percent(100*s.CV()))
		strips = append(strips, show.Strip{Name: name, Values: x})
	}
	p.Table(t)
	p.Line("")
	p.Strips(strips, show.Value)
	for i, c := range r.Comparisons {
		p.comparison(r, c, r.Arms[i+1])
	}
	return p.Flush(w)
}

func (p *page) line(format string, args ...any) { p.Line(fmt.Sprintf(format, args...)) }

// comparison prints the verdict and what it is based on.
func (p *page) comparison(r Result, c stats.Comparison, arm stats.Arm) {
	p.line("%s against %s: %s", p.Bold(c.Variant), c.Control, p.Headline(c.Verdict.Ink(), words(c)))
	switch {
	case c.Effect.Known() && !inPercent(c):
		p.line("  effect      no percentage: %s is not shown to differ from zero; p %s%s", c.Control, show.P(c.P), holm(r, c))
	case c.Effect.Known():
		p.line("  effect      %s  %.4g %% interval %s to %s, p %s%s", show.SignedPercent(c.EffectPercent.Estimate), r.confidence(),
			show.SignedPercent(c.EffectPercent.Low), show.SignedPercent(c.EffectPercent.High), show.P(c.P), holm(r, c))
	}
	if c.Effect.Known() {
		p.line("  difference  %s  %s to %s, in the unit of the values", show.SignedValue(c.Difference.Estimate), show.SignedValue(c.Difference.Low), show.SignedValue(c.Difference.High))
	}
	p.line("  n           %s", sizes(c))
	if !math.IsNaN(c.DetectablePercent) {
		p.line("  detectable  %s (what %d %% of such measurements would have shown)", show.Percent(c.DetectablePercent), int(math.Round(100*power(r))))
	}
	if r.Options.MarginPercent > 0 && !math.IsNaN(c.PEquivalentHolm) {
		p.line("  equivalence within ±%s: p %s", show.Percent(r.Options.MarginPercent), show.P(c.PEquivalentHolm))
	}
	p.Line(p.Dim("  decided by  " + c.Method))
	if m := r.ministat(arm); m != "" {
		p.Line(p.Dim("  ministat    " + m))
	}
	for _, w := range c.Warnings {
		p.Paragraph("  warning     ", "              ", w.Message+": "+w.Action)
	}
	p.Line("")
}

// inPercent reports whether the effect is known in percent of the control.
func inPercent(c stats.Comparison) bool { return !math.IsNaN(c.EffectPercent.Estimate) }

func words(c stats.Comparison) string {
	word := string(c.Verdict)
	switch c.Verdict {
	case stats.Better, stats.Worse:
		direction := "higher"
		if c.Effect.Estimate < 0 {
			direction = "lower"
		}
		amount := show.Percent(c.EffectPercent.Estimate)
		if !inPercent(c) {
			amount = show.Value(math.Abs(c.Difference.Estimate))
		}
		word += fmt.Sprintf(" (%s %s)", amount, direction)
	case stats.Inconclusive:
		word += " (no difference shown, and none excluded)"
	case stats.Invalid:
		word += " (too little data)"
	}
	return word
}

func power(r Result) float64 {
	if r.Options.Power == 0 {
		return 0.8
	}
	return r.Options.Power
}

// holm adds the corrected p-value if there are several comparisons.
func holm(r Result, c stats.Comparison) string {
	if len(r.Comparisons) < 2 {
		return ""
	}
	return fmt.Sprintf(" (Holm over %d: %s)", len(r.Comparisons), show.P(c.PHolm))
}

func sizes(c stats.Comparison) string {
	if c.Design == stats.Blocks {
		return fmt.Sprintf("%d blocks", c.N)
	}
	return fmt.Sprintf("%s and %s", show.Count(c.NControl), show.Count(c.NVariant))
}

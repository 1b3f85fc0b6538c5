package compare

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"linerate/internal/stats"
)

// Style is how a page is printed.
type Style struct {
	Width  int  // columns
	Colour bool // ANSI colours
	NoPlot bool // -A
	NoTest bool // -n: the summary only
}

// page writes lines.
type page struct {
	w   io.Writer
	st  Style
	err error
}

// Print writes the result for a person: the samples, a plot over one axis,
// and for each comparison the verdict, the effect with its interval, and what
// limits it.
func (r Result) Print(w io.Writer, st Style) error {
	p := &page{w: w, st: st}
	sums := make([]stats.Summary, len(r.Arms))
	for i, a := range r.Arms {
		sums[i] = stats.Summarise(present(a.Values))
	}
	p.summary(r.Arms, sums)
	if !st.NoPlot && !st.NoTest {
		p.plots(r.Arms, sums)
	}
	if !st.NoTest {
		for i, c := range r.Comparisons {
			p.comparison(r, c, r.Arms[i+1])
		}
	}
	return p.err
}

func (p *page) line(format string, args ...any) {
	if p.err != nil {
		return
	}
	_, p.err = io.WriteString(p.w, strings.TrimRight(fmt.Sprintf(format, args...), " ")+"\n")
}

func (p *page) dim(s string) string  { return p.ansi("2", s) }
func (p *page) bold(s string) string { return p.ansi("1", s) }
func (p *page) ansi(code, s string) string {
	if !p.st.Colour {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// summary is a table of the samples.
func (p *page) summary(arms []stats.Arm, sums []stats.Summary) {
	name := nameWidth(arms)
	p.line("%s", p.dim(fmt.Sprintf("%-*s %7s %12s %12s %12s %12s %8s", name, "", "n", "min", "median", "mean", "max", "SD")))
	for i, a := range arms {
		s := sums[i]
		p.line("%s %7s %12s %12s %12s %12s %8s", pad(a.Name, name), grouped(s.N),
			value(s.Min), value(s.Median), value(s.Mean), value(s.Max), percentOf(s.CV()))
	}
	p.line("")
}

// comparison is the verdict and what it rests on.
func (p *page) comparison(r Result, c stats.Comparison, arm stats.Arm) {
	p.line("%s against %s: %s", p.bold(c.Variant), c.Control, p.verdict(c))
	if c.Effect.Known() {
		p.line("  effect      %s  %s interval %s to %s, p %s%s", signedPercent(c.EffectPercent.Estimate), confidence(r),
			signedPercent(c.EffectPercent.Low), signedPercent(c.EffectPercent.High), pValue(c.P), holm(r, c))
		if !p.st.NoPlot {
			p.effectPlot(c, r.Options.MarginPercent)
		}
		p.line("  difference  %s  %s to %s, in the unit of the values", signed(c.Difference.Estimate), signed(c.Difference.Low), signed(c.Difference.High))
	}
	p.line("  n           %s", sizes(c))
	if !math.IsNaN(c.DetectablePercent) {
		p.line("  detectable  %s (what %d %% of such measurements would have shown)%s", detectable(c.DetectablePercent), int(math.Round(100*power(r))), onePercent(c))
	}
	if r.Options.MarginPercent > 0 && !math.IsNaN(c.PEquivalentHolm) {
		p.line("  equivalence within ±%.3g %%: p %s", r.Options.MarginPercent, pValue(c.PEquivalentHolm))
	}
	p.line("%s", p.dim("  decided by  "+c.Method))
	p.beside(r, c, arm)
	for _, w := range c.Warnings {
		p.wrapped("  warning     ", w.Message+": "+w.Action)
	}
	p.line("")
}

// beside shows other tests, which never decide.
func (p *page) beside(r Result, c stats.Comparison, arm stats.Arm) {
	exact := "normal approximation"
	if c.Rank.Exact {
		exact = "exact"
	}
	p.line("%s", p.dim(fmt.Sprintf("  beside it   Mann–Whitney p %s (%s), shift %s", pValue(c.Rank.P), exact, signed(c.Rank.Shift.Estimate))))
	if c.Design == stats.Blocks {
		p.line("%s", p.dim("              permutation within blocks p "+pValue(c.Permutation.P)))
	}
	if m := r.ministat(arm); m != "" {
		p.line("%s", p.dim("              ministat: "+m))
	}
}

// verdict says in words what was found.
func (p *page) verdict(c stats.Comparison) string {
	colour := map[stats.Verdict]string{stats.Better: "32", stats.Worse: "31", stats.Equivalent: "36"}[c.Verdict]
	word := string(c.Verdict)
	switch c.Verdict {
	case stats.Better, stats.Worse:
		way := "higher"
		if c.Effect.Estimate < 0 {
			way = "lower"
		}
		word += fmt.Sprintf(" (%s %s)", strings.TrimLeft(signedPercent(math.Abs(c.EffectPercent.Estimate)), "+"), way)
	case stats.Inconclusive:
		word += " (no difference shown, and none excluded)"
	case stats.Invalid:
		word += " (too little data)"
	}
	if colour == "" {
		return p.bold(word)
	}
	return p.ansi("1;"+colour, word)
}

// wrapped prints text after a label, in the page's width.
func (p *page) wrapped(label, text string) {
	room := max(30, p.st.Width-utf8.RuneCountInString(label))
	row := ""
	for _, word := range strings.Fields(text) {
		if row != "" && utf8.RuneCountInString(row+" "+word) > room {
			p.line("%s%s", label, row)
			label, row = strings.Repeat(" ", utf8.RuneCountInString(label)), ""
		}
		row = strings.TrimLeft(row+" "+word, " ")
	}
	p.line("%s%s", label, row)
}

func power(r Result) float64 {
	if r.Options.Power == 0 {
		return 0.8
	}
	return r.Options.Power
}

func confidence(r Result) string { return fmt.Sprintf("%.4g %%", r.confidence()) }

// holm adds the corrected p-value where there was something to correct.
func holm(r Result, c stats.Comparison) string {
	if len(r.Comparisons) < 2 {
		return ""
	}
	return fmt.Sprintf(" (Holm over %d: %s)", len(r.Comparisons), pValue(c.PHolm))
}

// onePercent answers how many measurements would show an effect of 1 %.
func onePercent(c stats.Comparison) string {
	switch {
	case c.NForOnePercent == 0:
		return ""
	case c.Design == stats.Blocks:
		return fmt.Sprintf("; for 1 %%: %s blocks", grouped(c.NForOnePercent))
	}
	return fmt.Sprintf("; for 1 %%: %s a side", grouped(c.NForOnePercent))
}

func sizes(c stats.Comparison) string {
	if c.Design == stats.Blocks {
		return fmt.Sprintf("%d blocks", c.N)
	}
	return fmt.Sprintf("%s and %s", grouped(c.NControl), grouped(c.NVariant))
}

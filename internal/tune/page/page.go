// Package page tells what a search by experiment came to: in a terminal, and as a
// page of HTML with the half-normal plot of the effects.
package page

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"linerate/internal/chart"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/tune"
	"linerate/internal/tune/space"
)

//go:embed page.html
var text string

var page = chart.NewPage("tune", text, nil)

// Report is what a page shows of a search.
type Report struct {
	Question string        `json:"question"`
	Study    string        `json:"study"`
	Role     string        `json:"role"`
	Metric   string        `json:"metric"`
	Space    []space.Entry `json:"space"`
	// Factors are the entries in the space, in the order of configurations.
	Factors []string `json:"factors"`
	// Confirmation numbers the confirmations of the question in the ledger, Alpha is
	// the level that was left for this one.
	Confirmation int         `json:"confirmation_number"`
	Alpha        float64     `json:"alpha"`
	Result       tune.Result `json:"result"`
	// Ships are the settings of the plan.
	Ships []Setting `json:"ships"`
	// Untried are the levels of which nothing was measured.
	Untried []Untried `json:"untried"`
	Answer  string    `json:"answer"`
}

// Untried is a level of which nothing was measured.
type Untried struct {
	Setting
	Why string `json:"why"`
}

// Setting is a factor at a level.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Fill works out what follows from the result.
func (r *Report) Fill() {
	factors := space.Factors(r.Space)
	r.Factors, r.Ships = []string{}, []Setting{}
	for i, f := range factors {
		r.Factors = append(r.Factors, f.Name)
		if i < len(r.Result.Ships) && r.Result.Ships[i] > 0 {
			r.Ships = append(r.Ships, Setting{f.Name, f.Levels[r.Result.Ships[i]-1].Value})
		}
	}
	r.Untried = r.untried(factors)
	r.Answer = r.answer(factors)
}

func (r *Report) answer(factors []space.Entry) string {
	seen := show.Optional(r.Result.SeenPercent, show.Percent)
	switch {
	case !r.Result.Complete:
		return "The search is not at its end."
	case r.Result.Ships != nil:
		return fmt.Sprintf("%s: %s (%s to %s), confirmed on blocks of their own.", space.Words(factors, r.Result.Ships),
			show.SignedPercent(gain(r.Result.Gain.EffectPercent)), show.SignedPercent(r.Result.Gain.CILow.Float()), show.SignedPercent(r.Result.Gain.CIHigh.Float()))
	case len(r.Result.Model.Effects) == 0:
		return fmt.Sprintf("Nothing could be measured: %s.", r.invalid())
	case r.Result.Candidate == nil:
		return fmt.Sprintf("Nothing helps: of %d settings none promises to. A setting worth %s by itself would have been seen.%s", len(factors), seen, r.caveat())
	case len(r.Result.Harm) > 0 && r.Result.Confirmation.Verdict == stats.Better:
		open := ""
		if n := r.Result.OpenBlocks; n > 0 {
			open = fmt.Sprintf(" About %s of these would decide.", show.Plural(n, "block"))
		}
		return fmt.Sprintf("Nothing is recommended: %s gains %s, and is not shown to leave alone %s.%s", space.Words(factors, r.Result.Candidate),
			show.SignedPercent(gain(r.Result.Confirmation.EffectPercent)), show.List(r.Result.Harm), open)
	}
	return fmt.Sprintf("Nothing is shown to help: the best candidate was not confirmed. A gain of %s would have been seen.", seen)
}

// untried are the levels without a value, and why: the screening has the first of each
// setting, and what the budget leaves goes to the others.
func (r *Report) untried(factors []space.Entry) []Untried {
	out := []Untried{}
	for i, f := range factors {
		first := 1
		if len(r.Result.Model.Effects) > 0 {
			first = 2
		}
		for level := first; level <= len(f.Levels); level++ {
			of := func(l tune.LevelEffect) bool { return l.Factor == i && l.Level == level }
			u := Untried{Setting{f.Name, f.Levels[level-1].Value}, "no time was left for it"}
			if at := slices.IndexFunc(r.Result.Model.Levels, of); at >= 0 {
				switch l := r.Result.Model.Levels[at]; {
				case l.Blocks > 0:
					continue
				case l.Lacking != "":
					u.Why = l.Lacking
				case l.Asked > 0:
					u.Why = "none of its trials was valid"
				}
			} else if len(r.Result.Invalid) > 0 && level == 1 {
				u.Why = "none of its trials was valid"
			}
			out = append(out, u)
		}
	}
	return out
}

// caveat counts the levels of which nothing is known.
func (r *Report) caveat() string {
	if len(r.Untried) == 0 {
		return ""
	}
	return fmt.Sprintf(" Nothing is known of %s that %s not measured.", show.Plural(len(r.Untried), "further level"), map[bool]string{true: "was", false: "were"}[len(r.Untried) == 1])
}

// unmeasured lists the levels of which nothing is known, by the reason.
func (r *Report) unmeasured() (out []string) {
	by := map[string][]string{}
	var reasons []string
	for _, u := range r.Untried {
		if by[u.Why] == nil {
			reasons = append(reasons, u.Why)
		}
		by[u.Why] = append(by[u.Why], u.Name+"="+u.Value)
	}
	for _, why := range reasons {
		out = append(out, fmt.Sprintf("Not measured (%s): %s.", why, show.List(by[why])))
	}
	return out
}

// invalid counts the trials that could not be used, with the gates that refused them, the
// most frequent first.
func (r *Report) invalid() string {
	gates, n := slices.Sorted(maps.Keys(r.Result.Invalid)), 0
	slices.SortStableFunc(gates, func(a, b string) int { return r.Result.Invalid[b] - r.Result.Invalid[a] })
	for i, g := range gates {
		n += r.Result.Invalid[g]
		gates[i] = fmt.Sprintf("%s (%d)", g, r.Result.Invalid[g])
	}
	return fmt.Sprintf("%d of %s invalid, by %s", n, show.Plural(r.Result.Trials, "trial"), show.List(gates))
}

func gain(n stats.Number) float64 { return n.Float() }

// Terminal prints the report.
func (r *Report) Terminal(w io.Writer, style show.Style) error {
	p := show.NewPage(style)
	p.Paragraph("", "", r.Answer)
	p.Line("")
	p.Line(fmt.Sprintf("%s tried in %s (%s); confirmation %d of its question, at a level of %.2g %%.", show.Plural(len(r.Factors), "setting"),
		show.Plural(r.Result.Trials, "trial"), r.Result.Array, r.Confirmation, 100*r.Alpha))
	if len(r.Result.Invalid) > 0 {
		p.Paragraph("", "", r.invalid()+".")
	}
	for _, text := range r.unmeasured() {
		p.Paragraph("", "", text)
	}
	t := show.Table{Header: []string{"SETTING", "MAIN EFFECT", "REAL", ""}, Right: []bool{false, true, true, false}}
	for _, e := range r.effects() {
		t.Rows = append(t.Rows, e)
	}
	p.Table(t)
	return p.Flush(w)
}

// named is an effect with what became of it.
type named struct {
	tune.Effect
	name, note string
}

// ordered are the effects, the largest first.
func (r *Report) ordered() (out []named) {
	factors := space.Factors(r.Space)
	for _, e := range r.Result.Model.Effects {
		n := named{Effect: e, name: "(placebo)"}
		if e.Factor >= 0 {
			f := factors[e.Factor]
			n.name = f.Name + "=" + f.Levels[0].Value
			n.note = r.became(e.Factor, 1, factors)
		}
		out = append(out, n)
	}
	slices.SortStableFunc(out, func(a, b named) int {
		return cmp.Compare(math.Abs(b.Effect.Effect), math.Abs(a.Effect.Effect))
	})
	return out
}

// effects are the rows of all effects, the largest main effect first; then those of the
// levels beyond the first.
func (r *Report) effects() (out []row) {
	line := func(name string, effect, active float64, note string) {
		out = append(out, row{name, show.SignedPercent(stats.Percent(effect)), show.WholePercent(100 * active), note})
	}
	for _, e := range r.ordered() {
		line(e.name, e.Effect.Effect, e.Active, e.note)
	}
	factors := space.Factors(r.Space)
	levels := slices.DeleteFunc(slices.Clone(r.Result.Model.Levels), func(l tune.LevelEffect) bool { return l.Blocks == 0 })
	slices.SortStableFunc(levels, func(a, b tune.LevelEffect) int { return cmp.Compare(b.Effect, a.Effect) })
	for _, l := range levels {
		f := factors[l.Factor]
		line(f.Name+"="+f.Levels[l.Level-1].Value, l.Effect, l.Active, r.became(l.Factor, l.Level, factors))
	}
	return out
}

// became says what the search did with a level of a factor; of a first level, with the factor.
func (r *Report) became(f, level int, factors []space.Entry) string {
	at := func(c tune.Config) bool { return c != nil && (c[f] == level || level == 1 && c[f] > 0) }
	switch {
	case at(r.Result.Ships):
		return "in the plan: " + factors[f].Levels[r.Result.Ships[f]-1].Value
	case at(r.Result.Candidate) && r.Result.Ships != nil:
		return "left out: the rest is no worse without it"
	case at(r.Result.Candidate):
		return "in the candidate"
	}
	return ""
}

// row of a table of the page.
type row []string

type pageData struct {
	Report
	Figures      []chart.Figure
	Effects      []row
	Interactions []row
	Race         []row
	Confirm      []row
	Drops        []row
	Unmeasured   []row
	Outside      []row
	// Unusable counts invalid trials; "" where there are none.
	Unusable string
}

// HTML writes the page.
func (r *Report) HTML(w io.Writer) error {
	d := pageData{Report: *r}
	if len(r.Result.Invalid) > 0 {
		d.Unusable = r.invalid()
	}
	factors := space.Factors(r.Space)
	d.Effects = r.effects()
	for _, i := range r.Result.Model.Interactions {
		d.Interactions = append(d.Interactions, row{factors[i.A].Name + " × " + factors[i.B].Name, show.SignedPercent(stats.Percent(i.Effect)), fmt.Sprint(i.Aliases)})
	}
	for k, rung := range r.Result.Rungs {
		for _, a := range rung.Arms {
			on := "out"
			if a.On {
				on = "goes on"
			}
			d.Race = append(d.Race, row{fmt.Sprint(k + 1), space.Words(factors, a.Config), interval(a.Measured), on})
		}
	}
	for _, c := range []struct {
		what string
		j    *tune.Judged
		of   tune.Config
	}{{"confirmation", r.Result.Confirmation, r.Result.Candidate}, {"what is left of it", r.Result.Checked, r.Result.Reduced}} {
		if c.j != nil {
			d.Confirm = append(d.Confirm, row{c.what, space.Words(factors, c.of), interval(c.j.Result), string(c.j.Verdict), fmt.Sprint(c.j.Blocks), fmt.Sprintf("%.2g %%", 100*c.j.Alpha)})
		}
	}
	for _, x := range r.Result.Drops {
		d.Drops = append(d.Drops, row{factors[x.Factor].Name, interval(x.Result), map[bool]string{true: "left out", false: "stays"}[x.Idle]})
	}
	for _, u := range r.Untried {
		d.Unmeasured = append(d.Unmeasured, row{u.Name, u.Value, u.Why})
	}
	for _, e := range r.Space {
		if !e.In {
			d.Outside = append(d.Outside, row{e.Name, e.Why})
		}
	}
	d.Figures = chart.Draw("Half-normal plot of the effects", "Effects that are nothing lie on a line through zero; those that stand out are off it to the right. Dashed: Lenth's margin of error of one effect, and of all together.", r.halfNormal)
	return page.Write(w, d)
}

func interval(v stats.Result) string {
	return fmt.Sprintf("%s (%s to %s)", show.SignedPercent(v.EffectPercent.Float()), show.SignedPercent(v.CILow.Float()), show.SignedPercent(v.CIHigh.Float()))
}

// halfNormal plots the sizes of the effects over the quantiles of half a normal
// distribution (Daniel, Technometrics 1, 1959).
func (r *Report) halfNormal(width float64) string {
	effects := r.ordered()
	if len(effects) == 0 {
		return ""
	}
	slices.Reverse(effects)
	n := float64(len(effects))
	size := func(e named) float64 { return 100 * math.Abs(e.Effect.Effect) }
	l := r.Result.Model.Lenth
	most := max(size(effects[len(effects)-1]), 105*l.Simultaneous)
	quantile := func(i int) float64 { return stats.NormalQuantile(0.5 + (float64(i)+0.5)/(2*n)) }
	const height, left, bottom, top = 340.0, 34.0, 36.0, 12.0
	c := chart.New(width, height)
	x := chart.Scale{From: 0, To: most * 1.02, Left: left, Span: width - left - 12}
	y := chart.Scale{From: 0, To: quantile(len(effects)-1) * 1.05, Left: height - bottom, Span: -(height - bottom - top)}
	for _, t := range x.Ticks(6) {
		c.Line("grid", x.At(t), top, x.At(t), height-bottom)
		c.Tick(x.At(t), height-bottom+16, show.Percent(stats.Percent(t/100)))
	}
	for _, m := range []float64{l.Margin, l.Simultaneous} {
		c.Line("lossless", x.At(100*m), top, x.At(100*m), height-bottom)
	}
	c.Line("zero", x.At(0), height-bottom, x.At(min(most, 100*l.PSE*y.To)), y.At(min(y.To, most/(100*l.PSE))))
	for i, e := range effects {
		class := "trial c2"
		if e.Factor < 0 {
			class = "trial c7"
		}
		px, py := x.At(size(e)), y.At(quantile(i))
		c.Dot(class, px, py, 5, fmt.Sprintf("%s: %s", e.name, show.SignedPercent(stats.Percent(e.Effect.Effect))))
		if math.Abs(e.Effect.Effect) > l.Margin {
			anchor, at := "start", px+9
			if px > width/2 {
				anchor, at = "end", px-9
			}
			c.Text("", anchor, at, py+4, chart.Fit(e.name, width/2-20))
		}
	}
	c.Text("tick", "middle", width/2, height-4, "size of the main effect")
	return c.SVG("half-normal plot of " + strings.Join(r.Factors, ", "))
}

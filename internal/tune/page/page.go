// Package page shows the result of a search by experiment, in a terminal and as an
// HTML page.
package page

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"linerate/internal/document"
	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/tune"
	"linerate/internal/tune/space"
)

// Report is the content of a page on a search.
type Report struct {
	Question string        `json:"question"`
	Study    string        `json:"study"`
	Role     string        `json:"role"`
	Metric   string        `json:"metric"`
	Space    []space.Entry `json:"space"`
	// Factors are the entries in the space, in the order of configurations.
	Factors []string `json:"factors"`
	// Confirmation numbers the confirmations of the question in the ledger; Alpha is
	// the level that this one had.
	Confirmation int         `json:"confirmation_number"`
	Alpha        float64     `json:"alpha"`
	Result       tune.Result `json:"result"`
	// Ships lists the settings in the plan.
	Ships []Setting `json:"ships"`
	// Untried lists the levels that were not measured.
	Untried []Untried `json:"untried"`
	Answer  string    `json:"answer"`
}

// Untried is a level that was not measured.
type Untried struct {
	Setting
	Why string `json:"why"`
}

// Setting is a factor at one level.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Fill fills in what follows from the result.
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

// effects returns the rows of all measured levels, the largest effect first.
func (r *Report) effects() (out []row) {
	factors := space.Factors(r.Space)
	seen := slices.DeleteFunc(slices.Clone(r.Result.Model.Effects), func(e tune.Effect) bool { return e.Seen == 0 })
	list.Sort(seen, func(a, b tune.Effect) int { return cmp.Compare(math.Abs(b.Effect), math.Abs(a.Effect)) })
	for _, e := range seen {
		out = append(out, row{factors[e.Factor].Name + "=" + factors[e.Factor].Levels[e.Level-1].Value, r.ChangeText(e.Effect),
			strings.ReplaceAll(r.adjusted(e), " ", "\u00a0"), show.WholePercent(100 * e.Active), r.became(e.Factor, e.Level)})
	}
	return out
}

// adjusted formats an effect corrected for selection.
func (r *Report) adjusted(e tune.Effect) string {
	low, high := e.Low, e.High
	if low == 0 && high == 0 {
		return "none"
	}
	if r.less() {
		low, high = high, low
	}
	return fmt.Sprintf("%s (%s to %s)", r.ChangeText(e.Expected), r.ChangeText(low), r.ChangeText(high))
}

// became says what happened to a level of a factor.
func (r *Report) became(f, level int) string {
	at := func(c tune.Config) bool { return c != nil && c[f] == level }
	switch {
	case at(r.Result.Ships):
		return "in the plan"
	case at(r.Result.Candidate) && r.Result.Ships != nil:
		return "left out: hardly an effect alone"
	case at(r.Result.Candidate):
		return "in the candidate"
	}
	return ""
}

// row is a row of a table.
type row = []string

// Terminal prints the report, without the tables below the effects.
func (r *Report) Terminal(w io.Writer, style show.Style) error {
	return r.document().Terminal(w, style)
}

// HTML writes the report as a page.
func (r *Report) HTML(w io.Writer) error { return r.document().HTML(w) }

func (r *Report) document() document.Document {
	less := ""
	if r.less() {
		less = " (less is better)"
	}
	d := document.Document{Title: r.Question}
	d.Answer(r.Answer, "", "")
	d.Add(document.Note(fmt.Sprintf("%s on the workload of study %s for role %s, by %s%s: %s. This is confirmation %d of the question, at a level of %.2g %%: all confirmations of it together claim a winner where there is none in at most one of twenty.",
		show.Plural(len(r.Factors), "setting"), r.Study, r.Role, r.Metric, less, show.Plural(r.Result.Trials, "trial"), r.Confirmation, 100*r.Alpha)))
	if len(r.Result.Invalid) > 0 {
		d.Add(document.Note(r.invalid() + "."))
	}
	d.Add(document.OnTerminal(func(p *show.Page) {
		for _, text := range r.unmeasured() {
			p.Paragraph("  ", "    ", text)
		}
	}), document.Contents{}, document.OnPage{document.Heading("Effects")})
	if text := r.margins(); text != "" {
		d.Add(document.Note(text + " An effect is that of the level over the present one, with the others as in the candidate. Adjusted: less what selection adds, with the interval of 95 %, by the distribution of all effects (none: zero with 95 %); real: the probability that the effect is not zero."))
	}
	d.Add(document.Table{Header: row{"setting", "effect", "adjusted", "real", "what became of it"}, Rows: r.effects()})
	for _, s := range r.sections() {
		if len(s.Rows) > 0 {
			heading := document.Heading(s.Title)
			s.Title = ""
			d.Add(document.OnPage{heading, s})
		}
	}
	return d
}

// sections returns the tables below the effects; empty ones are omitted.
func (r *Report) sections() []document.Table {
	factors := space.Factors(r.Space)
	var interactions, confirm, untried, outside []row
	for _, i := range r.Result.Model.Interactions {
		interactions = append(interactions, row{factors[i.A].Name + " × " + factors[i.B].Name, r.ChangeText(i.Effect)})
	}
	if j := r.Result.Confirmation; j != nil {
		confirm = append(confirm, row{space.Words(factors, r.Result.Candidate), strings.ReplaceAll(r.interval(j.Result), " ", "\u00a0"), string(j.Verdict), fmt.Sprint(j.Blocks), fmt.Sprintf("%.2g %%", 100*j.Alpha)})
	}
	for _, u := range r.Untried {
		untried = append(untried, row{u.Name, u.Value, u.Why})
	}
	for _, e := range r.Space {
		if !e.In {
			outside = append(outside, row{e.Name, e.Why})
		}
	}
	return []document.Table{
		{Title: "Interactions", Header: row{"settings", "effect"}, Rows: interactions, Note: "What two settings do together beyond each alone."},
		{Title: "Confirmation", Header: row{"settings", "against the base", "verdict", "blocks", "level"}, Rows: confirm, Note: r.guards()},
		{Title: "Not measured", Header: row{"setting", "level", "why"}, Rows: untried},
		{Title: "Not in the space", Header: row{"setting", "why"}, Rows: outside},
	}
}

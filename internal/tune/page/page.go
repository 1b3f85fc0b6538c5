// Package page shows the result of a search by experiment: in a terminal, and as a
// page of HTML.
package page

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"linerate/internal/document"
	"linerate/internal/show"
	"linerate/internal/tune"
	"linerate/internal/tune/space"
)

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
	// Untried are the levels that were not measured.
	Untried []Untried `json:"untried"`
	Answer  string    `json:"answer"`
}

// Untried is a level that was not measured.
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
		out = append(out, row{name, r.ChangeText(effect), show.WholePercent(100 * active), note})
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
		return "in the candidate: " + factors[f].Levels[r.Result.Candidate[f]-1].Value
	}
	return ""
}

// row of a table.
type row = []string

// Terminal prints the report without the tables below the effects.
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
	d.Add(document.Note(fmt.Sprintf("%s on the workload of study %s for role %s, by %s%s: %s, %s. This is confirmation %d of the question, at a level of %.2g %%: all confirmations of it together claim a winner where there is none in at most one of twenty.",
		show.Plural(len(r.Factors), "setting"), r.Study, r.Role, r.Metric, less, r.Result.Array, show.Plural(r.Result.Trials, "trial"), r.Confirmation, 100*r.Alpha)))
	if len(r.Result.Invalid) > 0 {
		d.Add(document.Note(r.invalid() + "."))
	}
	d.Add(document.OnTerminal(func(p *show.Page) {
		for _, text := range r.unmeasured() {
			p.Paragraph("  ", "    ", text)
		}
	}), document.Contents{}, document.OnPage{document.Heading("Effects")})
	if text := r.margins(); text != "" {
		d.Add(document.Note(text + " Real: the probability that the effect is not zero, judged by all of them. The further levels of a setting, below the others, were measured in separate blocks."))
	}
	d.Add(document.Table{Header: row{"setting", "main effect", "real", "what became of it"}, Rows: r.effects()})
	for _, s := range r.sections() {
		if len(s.Rows) > 0 {
			heading := document.Heading(s.Title)
			s.Title = ""
			d.Add(document.OnPage{heading, s})
		}
	}
	return d
}

// sections are the tables of a page below the effects; one without rows is left out.
func (r *Report) sections() []document.Table {
	factors := space.Factors(r.Space)
	var interactions, race, confirm, drops, untried, outside []row
	for _, i := range r.Result.Model.Interactions {
		interactions = append(interactions, row{factors[i.A].Name + " × " + factors[i.B].Name, r.ChangeText(i.Effect), fmt.Sprint(i.Aliases)})
	}
	for k, rung := range r.Result.Rungs {
		for _, a := range rung.Arms {
			race = append(race, row{fmt.Sprint(k + 1), space.Words(factors, a.Config), r.cell(a.Measured), map[bool]string{true: "goes on", false: "out"}[a.On]})
		}
	}
	judged := func(what string, j *tune.Judged, of tune.Config) {
		if j != nil {
			confirm = append(confirm, row{what, space.Words(factors, of), r.cell(j.Result), string(j.Verdict), fmt.Sprint(j.Blocks), fmt.Sprintf("%.2g %%", 100*j.Alpha)})
		}
	}
	judged("confirmation", r.Result.Confirmation, r.Result.Candidate)
	judged("what is left of it", r.Result.Checked, r.Result.Reduced)
	for _, x := range r.Result.Drops {
		drops = append(drops, row{factors[x.Factor].Name, r.cell(x.Result), map[bool]string{true: "left out", false: "stays"}[x.Idle]})
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
		{Title: "Interactions", Header: row{"settings", "effect", "aliases"}, Rows: interactions, Note: "Half of what two settings do together beyond each alone. Aliases are pairs that the array cannot tell from it."},
		{Title: "Race", Header: row{"rung", "settings", "against the base", ""}, Rows: race, Note: "The race makes no claim: it chooses the candidate to confirm."},
		{Title: "Confirmation", Header: row{"", "settings", "against the base", "verdict", "blocks", "level"}, Rows: confirm, Note: r.guards()},
		{Title: "Left out", Header: row{"without", "effect", ""}, Rows: drops, Note: "The confirmed candidate against itself without each setting. A setting is left out if the candidate is no worse without it."},
		{Title: "Not measured", Header: row{"setting", "level", "why"}, Rows: untried},
		{Title: "Not in the space", Header: row{"setting", "why"}, Rows: outside},
	}
}

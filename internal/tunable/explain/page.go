// Package explain makes a page of what the catalogue knows of a tunable: as text
// for a terminal, or as a document.
package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/audit"
	"linerate/internal/evidence"
	"linerate/internal/fact/release"
	"linerate/internal/lazy"
	"linerate/internal/tunable"
)

// Version is the version of the JSON document of a Page.
const Version = 1

// Releases lists the releases that a page distinguishes, oldest first, by operating system.
var Releases = map[string][]string{
	tunable.FreeBSD: {"11.4", "12.4", "13.5", "14.0", "14.3", "15.0", "16.0"},
	tunable.Linux:   append(minors("5.", 10, 19), minors("6.", 0, 18)...),
}

// minors returns the releases of a series.
func minors(series string, from, to int) []string {
	var all []string
	for n := from; n <= to; n++ {
		all = append(all, series+strconv.Itoa(n))
	}
	return all
}

// Page is what is known of one tunable on one release.
type Page struct {
	Version int    `json:"version"`
	Name    string `json:"name"`
	// Asked is the name as the user gave it, if different.
	Asked     string `json:"asked,omitempty"`
	OS        string `json:"os"`
	Release   string `json:"release,omitempty"`
	Subsystem string `json:"subsystem"`
	tunable.Entry
	Summary   string `json:"summary"`
	Unit      string `json:"unit,omitempty"`
	Effective string `json:"effective,omitempty"`
	Formula   string `json:"formula,omitempty"`
	Module    string `json:"module,omitempty"`
	Option    string `json:"kernel_option,omitempty"`
	// Where describes where it is set on that release.
	Where       string     `json:"where"`
	Bounds      string     `json:"bounds,omitempty"`
	Outside     string     `json:"outside,omitempty"` // treatment of other values
	Scope       string     `json:"scope"`
	Cost        string     `json:"cost,omitempty"`
	History     []Period   `json:"history"`
	Helps       string     `json:"helps,omitempty"`
	Hurts       string     `json:"hurts,omitempty"`
	Cautions    []Caution  `json:"cautions,omitempty"`
	Coupled     []Coupled  `json:"coupled,omitempty"`
	Recommended []Advice   `json:"recommended,omitempty"`
	Claims      []Claim    `json:"claims,omitempty"`
	Evidence    []Evidence `json:"evidence,omitempty"`
	// Pooled is the combined evidence per change: for the host, if there is one.
	Pooled []evidence.Change `json:"pooled,omitempty"`
	// Writers lists the programs that write it by themselves.
	Writers   []string  `json:"written_by,omitempty"`
	Value     *Value    `json:"value,omitempty"`
	Host      *OnHost   `json:"host,omitempty"`
	Decoded   []string  `json:"decoded,omitempty"`
	Same      []string  `json:"same_concept,omitempty"`
	ConceptIs string    `json:"concept_title,omitempty"`
	Related   []string  `json:"related,omitempty"`
	Notes     []string  `json:"notes,omitempty"`
	Sources   []string  `json:"sources"`
	Checked   []Checked `json:"checked,omitempty"`
	WithAll   string    `json:"with_all,omitempty"`
	Backports []string  `json:"backports,omitempty"`

	// Here means that the release is this machine's, because none was requested.
	Here bool `json:"-"`
	// For is the host for which evidence is pooled; nil for any.
	For *evidence.Host `json:"-"`

	noDefault bool // none or unknown, as opposed to an empty default
}

// Checked is a check of the record against a source.
type Checked struct {
	Release string   `json:"release"`
	How     string   `json:"how"`
	What    []string `json:"what"`
}

// Period is a run of releases without changes to the tunable.
type Period struct {
	Releases string `json:"releases"`
	Is       string `json:"is"`
}

// Caution is a warning with its condition, as an expression and in words.
type Caution struct {
	Kind      string `json:"kind"`
	When      string `json:"when,omitempty"`
	Condition string `json:"condition,omitempty"`
	Text      string `json:"text"`
}

// Coupled is a tunable that must agree with this one, as an expression and in words.
type Coupled struct {
	Name      string `json:"name"`
	Holds     string `json:"holds,omitempty"`
	Condition string `json:"condition,omitempty"`
	Why       string `json:"why"`
}

// Advice is what to set on hosts of a role.
type Advice struct {
	Role   string `json:"role"`
	Set    string `json:"set"` // a value, a formula, or an action without a value
	When   string `json:"when,omitempty"`
	Reason string `json:"reason"`

	words string // When in words
}

// of formats the role and the condition.
func (a Advice) of() string {
	if a.When == "" {
		return a.Role
	}
	return a.Role + ", where " + a.words
}

// Claim is a statement by a source.
type Claim struct {
	Source  string `json:"source"`
	Title   string `json:"title"`
	Author  string `json:"author,omitempty"`
	Date    string `json:"date,omitempty"`
	At      string `json:"at"`
	Sets    string `json:"sets,omitempty"`
	In      string `json:"in,omitempty"`
	Active  bool   `json:"active"`
	Says    string `json:"says"`
	Verdict string `json:"verdict"`
	Truth   string `json:"truth,omitempty"`
}

// line matches a reference to lines of a text, which may differ between editions.
var line = lazy.Regexp(`(^|, )lines? [0-9]+((, | to | and |-)[0-9]+)*$`)

// cited formats the citation: who, what, when, and the section. For a collection the place names
// the source.
func (c Claim) cited() string {
	place := line().ReplaceAllString(c.At, "")
	switch {
	case c.Author == "various" && place != "":
		return place
	case c.Author == "" && c.Date == "":
	default:
		c.Title += " (" + strings.Trim(c.Author+", "+c.Date, ", ") + ")"
	}
	if place == "" || place == "in the text" {
		return c.Title
	}
	return c.Title + ", " + place
}

// Value is what is known of one value.
type Value struct {
	Value   string `json:"value"`
	Problem string `json:"problem,omitempty"`
	// Findings are what an audit says about a line that sets it.
	Findings []string `json:"findings,omitempty"`
	Default  bool     `json:"equals_default"`
	Decoded  []string `json:"decoded,omitempty"`
}

// Of returns the page of a record on a release (zero: the newest known). asked is the name as the
// user gave it.
func Of(c *tunable.Catalogue, r *tunable.Record, asked string, rel release.Release) Page {
	s := r.At(rel)
	p := Page{
		Version: Version, Name: r.Name, OS: r.OS, Release: rel.String(), Subsystem: r.Subsystem,
		Summary: r.Summary, Unit: s.Unit, Effective: s.Effective, Formula: s.Formula, Module: s.Module, Option: r.KernelOption,
		Where: where(r, s, rel), Cost: told("cost", r.Reset),
		History: history(r), Helps: r.Helps, Hurts: r.Hurts, Related: r.Related, Notes: r.Notes, Sources: r.Sources,
	}
	p.Entry = r.EntryAs(asked, rel)
	p.Scope = governs(r, asked, s)
	if s.Exists && s.Settable != tunable.ReadOnly {
		p.Bounds, p.Outside = bounds(s, r.RangeOn(rel)), beyond(r, s, rel)
	}
	if asked != r.Name {
		p.Asked = asked
	}
	p.noDefault = s.Default == nil && s.Formula == ""
	p.WithAll, p.Backports = told("all", r.WithAll), r.Backports
	p.addAdvice(c, r)
	for _, k := range r.Checked {
		p.Checked = append(p.Checked, Checked{k.Release.String(), k.How, k.What})
	}
	for _, cl := range c.ClaimsOn(r) {
		src, _ := c.ClaimSource(cl.Source)
		p.Claims = append(p.Claims, Claim{cl.Source, src.Title, src.Author, src.Date, cl.At, cl.Value, cl.In, cl.Active, cl.Says, cl.Verdict, cl.Truth})
	}
	if k, ok := c.Concept(r.Concept); ok {
		p.ConceptIs = k.Title
		p.Same = sameIdea(c, r)
	}
	if r.Decode == "harvest" {
		p.Decoded = decodeHarvest(rel, tunable.HarvestDefault(rel))
	}
	return p
}

// AddWriters adds the programs that write the tunable by themselves.
func (p *Page) AddWriters(rules *audit.RuleSet) {
	for _, w := range rules.WritersOf(p.OS, cmp.Or(p.Asked, p.Name)) {
		p.Writers = append(p.Writers, w.Name+": "+w.When)
	}
}

// mostSame is the maximum number of tunables of the same concept on a page.
const mostSame = 12

// sameIdea lists other tunables of the concept: those of other systems first, device-specific ones
// last.
func sameIdea(c *tunable.Catalogue, r *tunable.Record) []string {
	all := slices.Clone(c.WithConcept(r.Concept))
	rank := func(x *tunable.Record) int {
		switch {
		case x.OS != r.OS:
			return 0
		case x.Driver == "":
			return 1
		}
		return 2
	}
	slices.SortStableFunc(all, func(a, b *tunable.Record) int { return cmp.Compare(rank(a), rank(b)) })
	var names []string
	for _, x := range all {
		if x != r && len(names) < mostSame {
			names = append(names, x.OS+" "+x.Name)
		}
	}
	return names
}

func (p *Page) addAdvice(c *tunable.Catalogue, r *tunable.Record) {
	for _, x := range r.Cautions {
		p.Cautions = append(p.Cautions, Caution{x.Kind, x.When, c.Words(x.When, "it", ""), x.Text})
	}
	for _, x := range r.Coupled {
		p.Coupled = append(p.Coupled, Coupled{x.Name, x.Holds, c.Words(x.Holds, "it", x.Name), x.Why})
	}
	for _, x := range r.Recommend {
		set := cmp.Or(x.Formula, x.Value, told("deed", x.Do))
		p.Recommended = append(p.Recommended, Advice{x.Role, set, x.When, x.Reason, c.Words(x.When, "it", "")})
	}
}

// Judge adds what is known of one value of the tunable.
func (p *Page) Judge(r *tunable.Record, rel release.Release, value string) {
	v := &Value{Value: value}
	if problem := r.RejectOn(rel, value); problem != nil {
		v.Problem = problem.Message + becoming(problem, value)
	}
	if d := r.At(rel).Default; d != nil {
		v.Default = r.SameValue(value, *d)
	}
	if n, ok := tunable.ParseInteger(value); ok && r.Decode == "harvest" && n.IsUint64() && n.Uint64() < 1<<32 {
		v.Decoded = decodeHarvest(rel, uint32(n.Uint64()))
	}
	p.Value = v
}

// decodeHarvest names the sources in a mask: enabled ones, disabled ones, and those that the mask
// cannot change.
func decodeHarvest(rel release.Release, mask uint32) []string {
	all, err := tunable.DecodeHarvest(rel, mask)
	if err != nil {
		return []string{err.Error()}
	}
	var on, off, fixed []string
	for _, s := range all {
		name := fmt.Sprintf("%s (bit %d)", s.Name, s.Bit)
		switch {
		case s.Fixed && s.On:
			fixed = append(fixed, name+" in the mask")
		case s.Fixed:
			fixed = append(fixed, name)
		case s.On:
			on = append(on, name)
		default:
			off = append(off, name)
		}
	}
	return []string{
		"on: " + strings.Join(on, ", "), "off: " + strings.Join(off, ", "),
		"the kernel decides, whatever is written: " + strings.Join(fixed, ", "),
	}
}

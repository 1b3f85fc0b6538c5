// Package judge gives one judgement a setting of a host: what stands, what is known
// of it, what was measured, and what to do. It is pure, and the only place where
// findings, records, advice and evidence are weighed against each other; what shows or
// changes a host reads its judgements.
package judge

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/audit"
	"linerate/internal/evidence"
	"linerate/internal/fact"
	"linerate/internal/list"
	"linerate/internal/tunable"
)

// Do is what a judgement says to do.
type Do string

// What to do about a setting.
const (
	Keep    Do = "keep"    // nothing
	Set     Do = "set"     // to To
	Remove  Do = "remove"  // the line
	Move    Do = "move"    // the line, to the file where it takes effect
	Decide  Do = "decide"  // a person: lines contradict, or several changes would do
	Measure Do = "measure" // nothing is known that decides
)

// Basis is what a judgement rests on, and so how sure it is.
type Basis string

// The bases, surest first.
const (
	System   Basis = "system"   // how the system reads its files and stores values
	Measured Basis = "measured" // studies on hardware and a release like the host's
	Known    Basis = "known"    // the catalogue's rules, cautions and advice
	Claimed  Basis = "claimed"  // somebody's advice, unmeasured
	None     Basis = "none"     // nothing speaks for a change
)

// Judgement is everything there is to say of one setting of one host.
type Judgement struct {
	// Name is as the host spells it.
	Name string
	// Record is the catalogue's, nil where it has none.
	Record *tunable.Record
	// Default is the value without any line, computed for this host; "" and false
	// where that is not known.
	Default      string
	DefaultKnown bool
	// Stands is the value the setting has.
	Stands Standing
	// Lines set it, in the order in which they are read.
	Lines []fact.Line
	// Writer says which program wrote the line that stands, where a line of sysctl.d does
	// not stick for it; "" elsewhere.
	Writer string
	// Findings are the audit's about it, worst first.
	Findings []audit.Finding
	// Cautions are the record's that hold of the value that stands.
	Cautions []tunable.Caution
	// Advice is the record's for the host's role; nil where it has none.
	Advice *Advice
	// Evidence is what was measured of changes from the value that stands, pooled.
	Evidence []evidence.Change

	Do    Do
	To    string // the value, where Do is Set, or the one to measure
	Why   string
	Basis Basis
}

// Standing is a value and where it comes from.
type Standing struct {
	Value string
	Known bool
	// Origin is "default", "the running kernel", or the line as FILE:NUMBER.
	Origin string
	// Fleeting: the value runs, and the files give another at the next boot.
	Fleeting bool
}

// Advice is what the catalogue recommends to a role. Value is "" where it says what
// to do without one.
type Advice struct {
	Value, Reason string
}

// Input is what judgements are made from. Findings are of an audit of the same facts.
type Input struct {
	Facts     *fact.Facts
	Catalogue *tunable.Catalogue
	// Rules know who writes what; nil: that is not told.
	Rules    *audit.RuleSet
	Role     string
	Findings []audit.Finding
	Evidence []evidence.Row
}

// Judge makes the judgements of one host.
type Judge struct {
	Input
	env      tunable.Env
	findings map[string][]audit.Finding
	evidence map[string][]evidence.Row
}

// New prepares the judge of a host.
func New(in Input) *Judge {
	j := &Judge{Input: in, env: in.Catalogue.NewEnv(in.Facts, in.Role), findings: map[string][]audit.Finding{}, evidence: map[string][]evidence.Row{}}
	for _, f := range in.Findings {
		j.findings[f.Name] = append(j.findings[f.Name], f)
	}
	for _, r := range in.Evidence {
		if strings.EqualFold(r.OS, in.Facts.OS) {
			name := evidence.FoldName(r.Tunable)
			j.evidence[name] = append(j.evidence[name], r)
		}
	}
	return j
}

// Of judges the setting of a name.
func (j *Judge) Of(name string) Judgement {
	x, setting := j.known(name)
	if j.Rules != nil {
		x.Writer = j.Rules.Says(j.Facts.OS, setting)
	}
	if x.Record != nil {
		x.Cautions = j.cautions(x)
		x.Advice = j.advice(x.Record)
		x.Evidence = j.weigh(x)
	}
	x.decide()
	return x
}

// known is a judgement before anything is weighed.
func (j *Judge) known(name string) (Judgement, fact.Tunable) {
	x := Judgement{Name: name, Findings: j.findings[name], Basis: None, Do: Keep}
	setting, _ := j.setting(name)
	x.Lines = setting.Lines
	if r, ok := j.Catalogue.Lookup(j.Facts.OS, name); ok {
		x.Record = r
		x.Default, x.DefaultKnown = r.DefaultOf(name, j.Facts.Release, j.env)
	}
	x.Stands = j.stands(x, setting)
	return x, setting
}

// Stands is the value that a setting has.
func (j *Judge) Stands(name string) Standing {
	x, _ := j.known(name)
	return x.Stands
}

// setting is a name's own lines and running value, of rc.conf's where no other has it.
func (j *Judge) setting(name string) (fact.Tunable, bool) {
	if s, ok := j.Facts.Tunable(name); ok {
		return s, true
	}
	return j.Facts.RCVariable(name)
}

// stands is the value that runs, else the one that the files set, else the default.
func (j *Judge) stands(x Judgement, s fact.Tunable) Standing {
	place, written := "", ""
	if l, ok := s.Stands(); ok {
		place, written = fmt.Sprintf("%s:%d", l.File, l.Number), l.Value
		if l.Number == 0 && l.Note != "" {
			place = l.Note
		}
		if x.Record != nil {
			written = x.Record.Stored(j.Facts.Release, l, x.Default)
		}
	}
	live, running := j.Facts.LiveValue(x.Name)
	switch {
	case running && place != "" && live == written:
		return Standing{Value: live, Origin: place, Known: true}
	case running && live == x.Default:
		return Standing{Value: live, Origin: "default", Known: true, Fleeting: place != ""}
	case running:
		read := j.Facts.Read("/etc/sysctl") || j.Facts.Read("/etc/rc.conf")
		return Standing{Value: live, Origin: "the running kernel", Known: true, Fleeting: place != "" || x.Default != "" && read}
	case place != "":
		return Standing{Value: written, Origin: place, Known: true}
	}
	return Standing{Value: x.Default, Origin: "default", Known: x.DefaultKnown}
}

// cautions are those whose condition can be answered, and holds.
func (j *Judge) cautions(x Judgement) []tunable.Caution {
	if x.Stands.Value == "" {
		return nil
	}
	env := j.env.With(x.Stands.Value, "")
	return list.Filter(x.Record.Cautions, func(c tunable.Caution) bool {
		holds, err := env.Holds(c.When)
		return c.When != "" && err == nil && holds && !env.Unknown(c.When)
	})
}

// advice is the first recommendation to the host's role whose condition holds.
func (j *Judge) advice(r *tunable.Record) *Advice {
	for _, k := range r.Recommend {
		if holds, err := j.env.Holds(k.When); k.Role != j.Role || err != nil || !holds {
			continue
		}
		a := &Advice{Value: k.Value, Reason: k.Reason}
		if k.Formula != "" && !j.env.Unknown(k.Formula) {
			if v, err := j.env.Formula(k.Formula); err == nil {
				a.Value = v
			}
		}
		return a
	}
	return nil
}

// decide weighs what is known: a finding before evidence, evidence before advice.
func (x *Judgement) decide() {
	switch {
	case len(x.Findings) > 0:
		x.byFinding(x.Findings[0])
	case x.byEvidence():
	case x.Advice != nil && x.Advice.Value != "" && !x.Record.SameValue(x.Advice.Value, x.Stands.Value):
		x.Do, x.To, x.Basis, x.Why = Measure, x.Advice.Value, Claimed, x.Advice.Reason
	case x.Advice != nil:
		x.Basis, x.Why = Known, x.Advice.Reason
	}
}

// bySystem are the kinds of findings that follow from how the system works.
var bySystem = []audit.Kind{audit.Syntax, audit.Removed, audit.Renamed, audit.Unknown, audit.Misplaced, audit.Range, audit.Duplicate, audit.Drift, audit.Order}

// byFinding does what the worst finding says. Lines that contradict each other, and
// changes without one value, are a person's to decide.
func (x *Judgement) byFinding(f audit.Finding) {
	x.Why, x.Basis = f.Message, Known
	switch {
	case slices.Contains(bySystem, f.Kind):
		x.Basis = System
	case f.Kind == audit.Folklore:
		x.Basis = Claimed
	}
	set, known := list.Find(f.Sets, func(s audit.Set) bool { return s.Name == x.Name })
	switch {
	case f.Kind == audit.Duplicate && f.Severity != audit.Info:
		x.Do = Decide
	case f.Action == audit.Change && known:
		x.Do, x.To = Set, set.Value
	case f.Action == audit.Change:
		x.Do = Decide
	default: // remove, move, keep, measure: the same words
		x.Do = Do(f.Action)
	}
}

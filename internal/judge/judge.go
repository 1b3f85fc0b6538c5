// Package judge gives one judgement per setting of a host: its value, what is known
// and was measured of it, and what to do. It is pure, and the only place where findings,
// records, advice and evidence are weighed against each other; all that shows or changes
// a host uses its judgements.
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

// Do is the recommended action of a judgement.
type Do string

// The actions.
const (
	Keep    Do = "keep"    // nothing
	Set     Do = "set"     // set it to To
	Remove  Do = "remove"  // remove the line
	Move    Do = "move"    // move the line to the file where it takes effect
	Decide  Do = "decide"  // a person decides: lines conflict, or several changes are possible
	Measure Do = "measure" // nothing known decides
)

// Basis is what a judgement is based on, and thus how certain it is.
type Basis string

// The bases, most certain first.
const (
	System   Basis = "system"   // how the system reads files and stores values
	Measured Basis = "measured" // studies on hardware and a release like the host's
	Known    Basis = "known"    // the catalogue's rules, cautions and advice
	Claimed  Basis = "claimed"  // someone's advice, unmeasured
	None     Basis = "none"     // nothing supports a change
)

// Judgement is all that is known of one setting of one host.
type Judgement struct {
	// Name is the host's spelling.
	Name string
	// Record is the catalogue's record, nil if there is none.
	Record *tunable.Record
	// Default is the value without any line, computed for this host; "" and false if unknown.
	Default      string
	DefaultKnown bool
	// Stands is the current value.
	Stands Standing
	// Lines are the lines that set it, in reading order.
	Lines []fact.Line
	// Writer names the program that wrote the effective line if a line in sysctl.d would not
	// override it; "" otherwise.
	Writer string
	// Findings are the audit's findings about it, worst first.
	Findings []audit.Finding
	// Cautions are the record's cautions that apply to the current value.
	Cautions []tunable.Caution
	// Advice is the record's advice for the host's role; nil if there is none.
	Advice *Advice
	// Evidence holds the pooled measurements of changes from the current value.
	Evidence []evidence.Change

	Do    Do
	To    string // the value to set or to measure
	Why   string
	Basis Basis
}

// Standing is a value and its origin.
type Standing struct {
	Value string
	Known bool
	// Origin is "default", "the running kernel", or the line as FILE:NUMBER.
	Origin string
	// Fleeting means that the value is running but the files set another at the next boot.
	Fleeting bool
}

// Advice is the catalogue's recommendation for a role. Value is "" if it only says what to do.
type Advice struct {
	Value, Reason string
}

// Input holds the inputs of judgements. Findings must come from an audit of the same facts.
type Input struct {
	Facts     *fact.Facts
	Catalogue *tunable.Catalogue
	// Rules identifies writers; nil leaves Writer empty.
	Rules    *audit.RuleSet
	Role     string
	Findings []audit.Finding
	Evidence []evidence.Row
}

// Judge judges the settings of one host.
type Judge struct {
	Input
	env      tunable.Env
	findings map[string][]audit.Finding
	evidence map[string][]evidence.Row
}

// New returns a judge for a host.
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

// Of judges the setting with a name.
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

// known returns a judgement before weighing.
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

// Stands returns the current value of a setting.
func (j *Judge) Stands(name string) Standing {
	x, _ := j.known(name)
	return x.Stands
}

// setting returns the lines and running value of a name, from rc.conf if there is no other.
func (j *Judge) setting(name string) (fact.Tunable, bool) {
	if s, ok := j.Facts.Tunable(name); ok {
		return s, true
	}
	return j.Facts.RCVariable(name)
}

// stands returns the running value, else the one set in files, else the default.
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

// cautions returns the cautions whose condition can be evaluated, and holds.
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

// advice returns the first recommendation for the host's role whose condition holds.
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

// decide weighs what is known: a finding over evidence, evidence over advice.
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

// bySystem lists the kinds of findings that follow from how the system works.
var bySystem = []audit.Kind{audit.Syntax, audit.Removed, audit.Renamed, audit.Unknown, audit.Misplaced, audit.Range, audit.Duplicate, audit.Drift, audit.Order}

// byFinding follows the worst finding. A person must decide about lines that contradict each other,
// and changes without a definite value.
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
	default: // remove, move, keep and measure have the same names
		x.Do = Do(f.Action)
	}
}

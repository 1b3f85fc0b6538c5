package audit

import (
	"fmt"
	"slices"
	"strings"
)

// class says how a candidate was found. It decides which of several candidates at one place are
// reported.
type class string

// The classes of candidates. Those from gone to same result from checking one line of a file
// against the catalogue.
const (
	rejectedLine class = "rejected-line" // the system, or the audit, cannot read the line
	spelled      class = "spelled"       // a word that is not in the vocabulary of its format
	unheard      class = "unheard"       // a typo, or unknown to the running kernel
	unjudged     class = "unjudged"      // the catalogue does not know the name
	gone         class = "gone"          // removed, renamed, or not yet introduced
	misplaced    class = "misplaced"     // the file cannot set the name
	unloaded     class = "unloaded"      // nothing loads its module
	late         class = "late"          // its module is loaded later
	outOfRange   class = "out-of-range"  // the system does not accept the value
	worse        class = "worse"         // replaces a better default
	same         class = "same"          // equal to the default
	caution      class = "caution"       // the record warns about the name or the value
	lineRule     class = "line-rule"     // a rule about lines
	idleRule     class = "idle-rule"     // a rule that says a line has no effect
	wideRule     class = "wide-rule"     // a rule about the host, an interface or a counter
	repeated     class = "repeated"      // set more than once
	drifted      class = "drifted"       // the running value differs
	disagreeing  class = "disagreeing"   // contradicts a coupled setting
	complained   class = "complained"    // a message of the system itself
	claimed      class = "claimed"       // relies on a claim
)

// candidate is a potential finding of a check. Checks do not see each other's candidates: resolve
// decides which are reported.
type candidate struct {
	Finding
	class class
	// covers lists the rules whose candidates at the same place are redundant, according to this
	// candidate's rule. RULE: and RULE:NAME stand for findings with such an ID anywhere on the same line.
	covers []string
	// once is a key: of the remaining candidates with the same key only the first is reported. ""
	// reports all.
	once string
	// under is the line that overrides this one, unless a finding says that the kernel refuses its value.
	under place
	// short is the reason in brief, for a finding that absorbs this one.
	short string
}

// judgements are the classes about a line's value and its effects: they do not matter if the line
// sets nothing.
var judgements = []class{outOfRange, worse, same, late, caution, lineRule, idleRule, drifted, disagreeing, complained, claimed}

// precedes is one row of precedence, with its reason.
type precedes struct {
	by, over []class
	why      string
}

// precedence says which classes hide which at the same place. It has no cycles, not even with the
// covers of rules; a test checks that.
var precedence = []precedes{
	{[]class{wideRule}, []class{unheard}, "a rule that knows the name says more than that the catalogue does not"},
	{[]class{wideRule, lineRule, idleRule}, []class{unjudged}, "a rule that knows the name says more than that the catalogue does not"},
	{[]class{unheard, gone}, append([]class{misplaced, unloaded}, judgements...), "a name that does not exist has no place and no value"},
	{[]class{misplaced}, append([]class{unloaded}, judgements...), "where the file has no power over it the value does not matter"},
	{[]class{unloaded}, judgements, "without its module the name does not exist"},
	{[]class{outOfRange}, []class{worse, same, caution, lineRule, idleRule, drifted, disagreeing, complained, claimed}, "the value is not taken"},
	{[]class{worse, same}, []class{caution, idleRule, claimed}, "one reason to remove a line is enough"},
	{[]class{rejectedLine, spelled, unjudged, late, caution, lineRule, idleRule, wideRule, repeated, drifted, disagreeing, complained}, []class{claimed},
		"a claim is worth a word only where nothing is known"},
}

// hides reports whether a candidate hides another one at its place.
func (c *candidate) hides(o *candidate) bool {
	if slices.Contains(c.covers, o.Rule()) {
		return true
	}
	return slices.ContainsFunc(precedence, func(p precedes) bool {
		return slices.Contains(p.by, c.class) && slices.Contains(p.over, o.class)
	})
}

// isOf reports whether RULE: or RULE:NAME covers the candidate.
func (c *candidate) isOf(covered string) bool {
	rule, name, named := strings.Cut(covered, ":")
	id, _, _ := strings.Cut(c.ID, "@")
	return named && rule == c.Rule() && (name == "" || id == covered)
}

// place identifies the candidates that compete: one name on one line.
type place struct {
	name, file string
	line       int
}

func (f Finding) place() place { return place{f.Name, f.File, f.Line} }

// resolve decides which candidates are reported: those not hidden by a reported one at their place,
// and only the first for each once key. A hidden candidate does not hide others.
func resolve(all []candidate) []Finding {
	rivals, judged, covered := map[place][]*candidate{}, map[place]bool{}, map[place][]string{}
	for i := range all {
		c := &all[i]
		c.ID, c.Name = clean(strings.TrimSuffix(c.ID, ":")), clean(c.Name)
		if c.Sources == nil {
			c.Sources = []string{}
		}
		rivals[c.place()] = append(rivals[c.place()], c)
		line := place{file: c.File, line: c.Line}
		judged[line] = judged[line] || c.class != spelled
	}
	findings, said := []Finding{}, map[string]bool{}
	stands := standing{}
	for i := range all {
		if c := &all[i]; len(c.covers) > 0 && stands.of(c, rivals[c.place()]) {
			covered[place{file: c.File, line: c.Line}] = append(covered[place{file: c.File, line: c.Line}], c.covers...)
		}
	}
	for i := range all {
		c := &all[i]
		at := rivals[c.place()]
		if c.under.file != "" && slices.ContainsFunc(rivals[c.under], (*candidate).refuses) {
			continue
		}
		line := place{file: c.File, line: c.Line}
		if !stands.of(c, at) || c.class == spelled && judged[line] || c.once != "" && said[c.once] || slices.ContainsFunc(covered[line], c.isOf) {
			continue
		}
		said[c.once] = true
		c.absorb(at)
		findings = append(findings, c.Finding)
	}
	return findings
}

// standing records which candidates remain.
type standing map[*candidate]bool

func (s standing) of(c *candidate, at []*candidate) bool {
	if stands, known := s[c]; known {
		return stands
	}
	s[c] = true // in progress: covers have no cycles
	s[c] = !slices.ContainsFunc(at, func(o *candidate) bool { return o != c && o.hides(c) && s.of(o, at) })
	return s[c]
}

// refuses reports a rule that says of a line that the kernel refuses its value.
func (c *candidate) refuses() bool {
	return c.Severity == Error && (c.Kind == "unknown" || c.Kind == "range") && c.class == lineRule
}

// absorb adds to the finding about a misplaced line that it would have no effect in its proper
// place either, if a hidden candidate says so: a rule first, then the record's cautions.
func (c *candidate) absorb(at []*candidate) {
	if c.class != misplaced || c.Action != Move {
		return
	}
	for _, k := range []class{idleRule, caution} {
		for _, o := range at {
			if o.class == k && o.Kind == Ineffective {
				c.Sets = nil
				c.Fix = strings.TrimSuffix(c.Fix, ".") + fmt.Sprintf(" — it would do nothing there either (%s): rather remove it.", o.short)
				return
			}
		}
	}
}

package audit

import (
	"fmt"
	"slices"
	"strings"
)

// class is how a candidate came about: what decides which of several at one
// place are reported.
type class string

// The classes of candidates. Those from gone to same judge one line of a file
// against the catalogue.
const (
	rejectedLine class = "rejected-line" // the system, or the audit, cannot read the line
	unheard      class = "unheard"       // a typo, or unknown to the running kernel
	unjudged     class = "unjudged"      // the catalogue does not know the name
	gone         class = "gone"          // removed, renamed, or not there yet
	misplaced    class = "misplaced"     // the file has no power over the name
	unloaded     class = "unloaded"      // nothing loads its module
	late         class = "late"          // its module comes after it
	outOfRange   class = "out-of-range"  // the system does not take the value
	worse        class = "worse"         // replaces a better default
	same         class = "same"          // equal to the default
	caution      class = "caution"       // the record warns of it, or of its value
	lineRule     class = "line-rule"     // a rule about lines
	idleRule     class = "idle-rule"     // a rule that says a line does nothing
	wideRule     class = "wide-rule"     // a rule about the host, an interface or a counter
	repeated     class = "repeated"      // set more than once
	drifted      class = "drifted"       // the host runs something else
	disagreeing  class = "disagreeing"   // at odds with a coupled setting
	complained   class = "complained"    // the system itself complains
	claimed      class = "claimed"       // rests on a claim
)

// candidate is a finding that a check would make. Checks do not look at each
// other's: resolve decides which stand.
type candidate struct {
	Finding
	class class
	// covers are rules whose candidates at the same place this one makes
	// superfluous, as its own rule says.
	covers []string
	// once: of the candidates that stand with the same key the first is
	// said; "" for every one.
	once string
	// short says why, for a finding that takes this one into its own words.
	short string
}

// judgements are what an audit reports of a line's value and its effects: nothing of
// it matters where the line sets nothing.
var judgements = []class{outOfRange, worse, same, late, caution, lineRule, idleRule, drifted, disagreeing, complained, claimed}

// precedes is a row of precedence, with its reason.
type precedes struct {
	by, over []class
	why      string
}

// precedence says which class makes which superfluous at the same place. It
// has no cycles, nor together with the rules' own covers: a test walks it.
var precedence = []precedes{
	{[]class{wideRule}, []class{unheard}, "a rule that knows the name says more than that the catalogue does not"},
	{[]class{wideRule, lineRule, idleRule}, []class{unjudged}, "a rule that knows the name says more than that the catalogue does not"},
	{[]class{unheard, gone}, append([]class{misplaced, unloaded}, judgements...), "a name that does not exist has no place and no value"},
	{[]class{misplaced}, append([]class{unloaded}, judgements...), "where the file has no power over it the value does not matter"},
	{[]class{unloaded}, judgements, "without its module the name does not exist"},
	{[]class{outOfRange}, []class{worse, same, caution, lineRule, idleRule, drifted, disagreeing, complained, claimed}, "the value is not taken"},
	{[]class{worse, same}, []class{caution, idleRule, claimed}, "one reason to remove a line is enough"},
	{[]class{rejectedLine, unjudged, late, caution, lineRule, idleRule, wideRule, repeated, drifted, disagreeing, complained}, []class{claimed},
		"a claim is worth a word only where nothing is known"},
}

// hides reports whether one candidate makes another at its place superfluous.
func (c *candidate) hides(o *candidate) bool {
	if slices.Contains(c.covers, o.Rule()) {
		return true
	}
	return slices.ContainsFunc(precedence, func(p precedes) bool {
		return slices.Contains(p.by, c.class) && slices.Contains(p.over, o.class)
	})
}

// place is where candidates compete: one name at one line.
type place struct {
	name, file string
	line       int
}

func (f Finding) place() place { return place{f.Name, f.File, f.Line} }

// resolve decides which candidates are reported: those that no other standing one
// at their place hides, and of those said once the first. What is hidden
// hides nothing itself.
func resolve(all []candidate) []Finding {
	rivals := map[place][]*candidate{}
	for i := range all {
		c := &all[i]
		c.ID, c.Name = clean(strings.TrimSuffix(c.ID, ":")), clean(c.Name)
		if c.Sources == nil {
			c.Sources = []string{}
		}
		rivals[c.place()] = append(rivals[c.place()], c)
	}
	findings, said := []Finding{}, map[string]bool{}
	stands := standing{}
	for i := range all {
		c := &all[i]
		at := rivals[c.place()]
		if !stands.of(c, at) || c.once != "" && said[c.once] {
			continue
		}
		said[c.once] = true
		c.absorb(at)
		findings = append(findings, c.Finding)
	}
	return findings
}

// standing remembers which candidates stand.
type standing map[*candidate]bool

func (s standing) of(c *candidate, at []*candidate) bool {
	if stands, known := s[c]; known {
		return stands
	}
	s[c] = true // while it is looked at: covers have no cycles
	s[c] = !slices.ContainsFunc(at, func(o *candidate) bool { return o != c && o.hides(c) && s.of(o, at) })
	return s[c]
}

// absorb adds to a line that should move that it would do nothing in its
// proper place either, where a hidden candidate knows that: a rule before the
// record's cautions.
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

package audit

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"linerate/internal/sharedtest"

	"linerate/internal/fact"
	"linerate/internal/tunable"
)

// at returns a candidate of a class at a name's line.
func at(c class, id, name string, line int) candidate {
	return candidate{Finding: Finding{ID: id + ":" + name, Name: name, File: "/etc/x", Line: line, Kind: Harmful}, class: c}
}

func TestResolve(t *testing.T) {
	covering := at(lineRule, "LR-A", "n", 1)
	covering.covers = []string{"LR-HARMFUL", "LR-B"}
	wide := at(wideRule, "LR-W", "n", 1)
	wide.covers = []string{"LR-SLIP:case", "LR-HARMFUL:"}
	first, second := at(disagreeing, "LR-COUPLED", "n", 1), at(disagreeing, "LR-COUPLED", "m", 2)
	first.once, second.once = "coupled m~n", "coupled m~n"
	for _, c := range []struct {
		name string
		all  []candidate
		want string // the findings that remain
	}{
		{"a removed name hides findings on its value", []candidate{at(worse, "LR-LOWERS", "n", 1), at(gone, "LR-REMOVED", "n", 1), at(drifted, "LR-DRIFT", "n", 1)}, "LR-REMOVED:n"},
		{"an unknown name hides findings on its place", []candidate{at(misplaced, "LR-MISPLACED", "n", 1), at(unheard, "LR-UNKNOWN", "n", 1)}, "LR-UNKNOWN:n"},
		{"other lines and names are unaffected", []candidate{at(gone, "LR-REMOVED", "n", 1), at(same, "LR-DEFAULT", "n", 2), at(same, "LR-DEFAULT", "m", 1)}, "LR-REMOVED:n LR-DEFAULT:n LR-DEFAULT:m"},
		{"only one reason to remove", []candidate{at(same, "LR-DEFAULT", "n", 1), at(idleRule, "LR-IDLE", "n", 1), at(caution, "LR-MEMORY", "n", 1)}, "LR-DEFAULT:n"},
		{"a rule that is not a reason to remove remains", []candidate{at(same, "LR-DEFAULT", "n", 1), at(lineRule, "LR-A", "n", 1)}, "LR-DEFAULT:n LR-A:n"},
		{"duplicates always remain", []candidate{at(repeated, "LR-DUPLICATE", "n", 1), at(misplaced, "LR-MISPLACED", "n", 1)}, "LR-DUPLICATE:n LR-MISPLACED:n"},
		{"the findings that a rule covers", []candidate{at(caution, "LR-HARMFUL", "n", 1), at(idleRule, "LR-B", "n", 1), covering, at(wideRule, "LR-C", "n", 1)}, "LR-A:n LR-C:n"},
		{"and those of other names, if it says so", []candidate{wide, at(lineRule, "LR-SLIP", "case", 1), at(lineRule, "LR-SLIP", "other", 1), at(caution, "LR-HARMFUL", "m", 1), at(caution, "LR-HARMFUL", "m", 2)}, "LR-W:n LR-SLIP:other LR-HARMFUL:m"},
		{"a hidden finding hides nothing", []candidate{at(idleRule, "LR-B", "n", 1), covering, at(outOfRange, "LR-RANGE", "n", 1), at(wideRule, "LR-HARMFUL", "n", 1)}, "LR-RANGE:n LR-HARMFUL:n"},
		{"a rule overrides an unknown name of the catalogue", []candidate{at(unjudged, "LR-UNKNOWN", "n", 1), at(lineRule, "LR-A", "n", 1)}, "LR-A:n"},
		{"but not one unknown to the kernel", []candidate{at(unheard, "LR-UNKNOWN", "n", 1), at(lineRule, "LR-A", "n", 1)}, "LR-UNKNOWN:n"},
		{"unless the rule is about the host", []candidate{at(unheard, "LR-UNKNOWN", "n", 1), at(wideRule, "LR-A", "n", 1)}, "LR-A:n"},
		{"claims come last", []candidate{at(claimed, "LR-FOLKLORE", "n", 1), at(late, "LR-ORDER", "n", 1), at(claimed, "LR-FOLKLORE", "m", 1)}, "LR-ORDER:n LR-FOLKLORE:m"},
		{"a pair by its remaining side", []candidate{first, second, at(misplaced, "LR-MISPLACED", "n", 1)}, "LR-COUPLED:m LR-MISPLACED:n"},
	} {
		// The order of the candidates decides only the order of the report.
		for _, reversed := range []bool{false, true} {
			all := slices.Clone(c.all)
			want := strings.Fields(c.want)
			if reversed {
				slices.Reverse(all)
				slices.Reverse(want)
			}
			var got []string
			for _, f := range resolve(all) {
				got = append(got, f.ID)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", c.name, got, want)
			}
		}
	}
	for _, pair := range [][]candidate{{first, second}, {second, first}} { // reported once, at the side that comes first
		if got := resolve(pair); len(got) != 1 || got[0].ID != pair[0].ID {
			t.Errorf("a pair of %s and %s: %v", pair[0].ID, pair[1].ID, got)
		}
	}
}

// TestAbsorb: the fix of a line that should move also says if it would have no effect there.
func TestAbsorb(t *testing.T) {
	move := at(misplaced, "LR-MISPLACED", "n", 1)
	move.Action, move.Fix = Move, "Move it."
	byCaution, byRule := at(caution, "LR-INEFFECTIVE", "n", 1), at(idleRule, "LR-A", "n", 1)
	byCaution.Kind, byCaution.short = Ineffective, "the record knows"
	byRule.Kind, byRule.short = Ineffective, "a rule knows"
	for _, c := range []struct {
		others []candidate
		want   string
	}{
		{nil, "Move it."},
		{[]candidate{at(caution, "LR-HARMFUL", "n", 1)}, "Move it."},
		{[]candidate{byCaution}, "Move it — it would do nothing there either (the record knows): rather remove it."},
		{[]candidate{byCaution, byRule}, "Move it — it would do nothing there either (a rule knows): rather remove it."},
	} {
		got := resolve(append([]candidate{move}, c.others...))
		if len(got) != 1 || got[0].Fix != c.want {
			t.Errorf("%+v, want %q", got, c.want)
		}
	}
}

// made lists the ids of the findings that the checks of each class give.
var made = map[class][]string{
	rejectedLine: {"LR-SYNTAX", "LR-UNREADABLE"}, spelled: {"LR-WORD"}, unheard: {"LR-UNKNOWN"}, unjudged: {"LR-UNKNOWN"}, gone: {"LR-REMOVED", "LR-RENAMED", "LR-NOTYET"},
	misplaced: {"LR-MISPLACED", "LR-UNREAD", "LR-CONTAINER", "LR-UNIT-IGNORED", "LR-POD-SYSCTL"}, unloaded: {"LR-NOMODULE", "LR-NOOPTION"}, late: {"LR-ORDER"}, outOfRange: {"LR-RANGE"}, worse: {"LR-LOWERS"}, same: {"LR-DEFAULT"},
	caution: {"LR-PF-SKIP", "LR-RANGE", "LR-PERDEVICE", "LR-HARMFUL", "LR-INEFFECTIVE", "LR-MEMORY", "LR-ORDER"}, repeated: {"LR-DUPLICATE", "LR-OVERWRITTEN"}, drifted: {"LR-DRIFT"},
	lineRule: {"LR-SLIP", "LR-UNDONE", "LR-PERDEVICE", "LR-LXC-SYSCTL", "LR-POD-UNSAFE", "LR-POD-OWN"}, disagreeing: {"LR-COUPLED", "LR-PF-ADAPTIVE"}, complained: {"LR-COMPLAINT"}, claimed: {"LR-FOLKLORE", "LR-LEAVING", "LR-OLD-DEFAULT"},
}

// TestPrecedenceHasNoCycles checks every possible candidate, by class and rule: none may hide itself
// through others, or nothing would be reported. Nor may a rule cover an id that nothing gives.
func TestPrecedenceHasNoCycles(t *testing.T) {
	var all []*candidate
	ids := map[string]bool{}
	for c, rules := range made {
		for _, id := range rules {
			x := at(c, id, "n", 1)
			all, ids[id] = append(all, &x), true
		}
	}
	set, err := LoadRules(sharedtest.Catalogue())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range set.rules {
		x := at(r.class(), r.ID, "n", 1)
		x.covers = r.Covers
		all, ids[r.ID] = append(all, &x), true
	}
	for _, c := range all {
		for _, id := range c.covers {
			if rule, _, _ := strings.Cut(id, ":"); !ids[rule] {
				t.Errorf("%s covers %s, which no check or rule gives", c.Rule(), id)
			}
		}
	}
	state := map[*candidate]int{}
	for _, c := range all {
		walk(t, all, state, c, nil)
	}
}

// TestMadeIsWhole: made lists every id that a check of this package gives.
func TestMadeIsWhole(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, ids := range made {
		known = append(known, ids...)
	}
	literal := regexp.MustCompile(`"(LR-[A-Z][A-Z-]*)[":%]`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range literal.FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(known, m[1]) {
				t.Errorf("%s gives %s: add it to its class in made", file, m[1])
			}
		}
	}
}

func walk(t *testing.T, all []*candidate, state map[*candidate]int, c *candidate, path []string) {
	t.Helper()
	path = append(path, string(c.class)+" "+c.Rule())
	switch state[c] {
	case 1:
		t.Errorf("precedence has a cycle: %s", strings.Join(path, " hides "))
		return
	case 2:
		return
	}
	state[c] = 1
	for _, o := range all {
		if c.hides(o) {
			walk(t, all, state, o, path)
		}
	}
	state[c] = 2
}

// TestEveryClassHasItsRow: every class is in the precedence table.
func TestEveryClassHasItsRow(t *testing.T) {
	for c := range made {
		if !slices.ContainsFunc(precedence, func(p precedes) bool {
			return slices.Contains(p.by, c) || slices.Contains(p.over, c)
		}) {
			t.Errorf("%s is in no row of precedence", c)
		}
	}
}

// TestChecksDoNotLookAtEachOther: a misplaced line that is also harmful has two candidates, but only
// one finding.
func TestChecksDoNotLookAtEachOther(t *testing.T) {
	c, err := tunable.Read(fstest.MapFS{"freebsd/x.yaml": {Data: []byte(`
subsystem: x
records:
  - {name: net.t.boot, mechanism: sysctl, type: int, settable: boot, default: "1", summary: S., sources: [t.c], cautions: [{kind: harmful, when: this == 7, text: Seven is bad.}]}`)}})
	if err != nil {
		t.Fatal(err)
	}
	f := &fact.Facts{OS: fact.FreeBSD}
	f.AddLines([]fact.Line{{File: "/etc/sysctl.conf", Number: 1, Name: "net.t.boot", Value: "7", Stage: fact.Sysctl, Effective: true}})
	f.Normalise()
	set, err := LoadRules(sharedtest.Catalogue())
	if err != nil {
		t.Fatal(err)
	}
	a := &auditor{Input: Input{Rules: &RuleSet{Lists: Lists{Remarks: set.Remarks}}}, f: f, c: c, lines: f.Lines()}
	a.env = c.NewEnv(f, "")
	var classes []class
	for _, x := range a.judge() {
		classes = append(classes, x.class)
	}
	if !slices.Equal(classes, []class{misplaced, caution}) {
		t.Fatalf("candidates %v", classes)
	}
	if got := resolve(a.judge()); len(got) != 1 || got[0].Rule() != "LR-MISPLACED" {
		t.Errorf("%+v", got)
	}
}

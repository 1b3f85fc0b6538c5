package redact

import (
	_ "embed" // the engine
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"linerate/internal/fact/texts"
)

// action is the treatment of a token: the first letter of the table's word for it.
type action byte

const (
	keep    action = 'k'
	value   action = 'v'
	mask    action = 'm'
	drop    action = 'd'
	comment action = 'c'
)

// rule is one line of the table: a token that a text may begin with in a state.
type rule struct {
	at      string // the state
	pattern string
	act     action
	to      string // the next state; "" stays
	set     string // the unquoted token must be in this set
	ahead   string // what follows must begin with this

	once             sync.Once
	matches, follows *regexp.Regexp
}

// compile compiles the patterns on first use.
func (r *rule) compile() {
	r.matches = regexp.MustCompilePOSIX("^(" + r.pattern + ")")
	if r.ahead != "" {
		r.follows = regexp.MustCompilePOSIX("^(" + r.ahead + ")")
	}
}

// ruleset is the parsed table.
type ruleset struct {
	rules []*rule
	// eol maps states in which a line can end to the next line's state, unless that is the kind's
	// initial one: quotes over several lines, sections.
	eol    map[string]string
	number string
}

// written parses the table.
var written = sync.OnceValue(func() ruleset {
	t := ruleset{eol: map[string]string{}}
	var parts []string
	macros := strings.NewReplacer()
	var at []state
	for line := range strings.Lines(texts.Read("redact/rules.txt")) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '{':
			name, pattern, _ := strings.Cut(line, "\t")
			parts = append(parts, name, macros.Replace(pattern))
			macros = strings.NewReplacer(parts...)
		case line[0] == '[':
			at = statesOf(strings.Trim(line, "[]"))
		default:
			fields := strings.Split(macros.Replace(line), "\t")
			for _, s := range at {
				t.add(s, fields)
			}
		}
	}
	t.number = "^(" + macros.Replace("{number}") + ")$"
	return t
})

// add adds a line of the table to a state.
func (t *ruleset) add(s state, fields []string) {
	if len(fields) < 2 {
		panic(fmt.Sprintf("rules.txt: %s: %q has no pattern", s.name, fields))
	}
	if fields[0] == "eol" {
		t.eol[s.name] = s.next(fields[1])
		if fields[1] == "" {
			t.eol[s.name] = s.name
		}
		return
	}
	r := &rule{at: s.name, act: action(fields[0][0]), pattern: fields[1]}
	for i, f := range fields[2:] {
		set, isSet := strings.CutPrefix(f, "in ")
		ahead, isAhead := strings.CutPrefix(f, "before ")
		switch {
		case i == 0:
			r.to = s.next(f)
		case isSet:
			r.set = set
		case isAhead:
			r.ahead = ahead
		default:
			panic(fmt.Sprintf("rules.txt: %s: %q", s.name, f))
		}
	}
	if r.act == keep && strings.HasPrefix(r.pattern, "[$]") && r.pattern != `[$][(]` {
		// Password hashes of crypt(3), $6$salt$hash, look like several references.
		t.rules = append(t.rules, &rule{at: s.name, act: mask, pattern: `[$][0-9a-z][0-9a-z]?[0-9a-z]?[0-9a-z]?[$][^ \t"'}]*`})
	}
	t.rules = append(t.rules, r)
}

// state is one state of a heading, with the text that its braces stand for.
type state struct {
	name string
	held []string
}

// next returns the name of a state as used in a line of the table.
func (s state) next(to string) string {
	for i, h := range s.held {
		to = strings.ReplaceAll(to, fmt.Sprintf("$%d", i+1), h)
	}
	return to
}

// statesOf returns the states of a heading: a.{b,c} stands for a.b and a.c.
func statesOf(heading string) []state {
	head, rest, braces := strings.Cut(heading, "{")
	if !braces {
		return []state{{name: heading}}
	}
	choices, tail, _ := strings.Cut(rest, "}")
	var all []state
	for c := range strings.SplitSeq(choices, ",") {
		for _, s := range statesOf(tail) {
			all = append(all, state{head + c + s.name, append([]string{c}, s.held...)})
		}
	}
	return all
}

//go:embed redact.awk
var engine string

// Awk returns Text as a program for any awk: its table, and an engine that reads it. Its input
// lines are "kind, tab, name, tab, source, tab, destination"; it appends what it left out to the
// file named by the variable report, in the format of a capture's manifest.
func Awk() string {
	var t strings.Builder
	fmt.Fprintf(&t, "\tMARK = %s\n\tLONGEST = %d\n\tSTEPS = %d\n\tLINE = %d\n\tNUMBER = %s\n", awkString(Mark), maxValue, maxSteps, maxLine, awkString(written().number))
	for _, r := range written().rules {
		args := []string{r.at, r.pattern, string(r.act), r.to, r.set, r.ahead}
		for len(args) > 3 && args[len(args)-1] == "" {
			args = args[:len(args)-1]
		}
		for i, a := range args {
			args[i] = awkString(a)
		}
		fmt.Fprintf(&t, "\tr(%s)\n", strings.Join(args, ", "))
	}
	ends := written().eol
	for _, state := range slices.Sorted(maps.Keys(ends)) {
		fmt.Fprintf(&t, "\tEOL[%s] = %s\n", awkString(state), awkString(ends[state]))
	}
	for _, line := range wordLines() {
		t.WriteString(line)
	}
	return strings.Replace(engine, "@TABLE@\n", t.String(), 1)
}

// wordLines returns the sets, a few words per line: some awks limit lines to 4 KiB.
func wordLines() []string {
	sets := map[string][]string{}
	for _, w := range allWords() {
		set, word, _ := strings.Cut(w, " ")
		sets[set] = append(sets[set], word)
	}
	var lines []string
	for _, set := range slices.Sorted(maps.Keys(sets)) {
		slices.Sort(sets[set])
		for some := range slices.Chunk(slices.Compact(sets[set]), 24) {
			lines = append(lines, fmt.Sprintf("\tw(%s, %s)\n", awkString(set), awkString(strings.Join(some, " "))))
		}
	}
	return lines
}

func awkString(s string) string {
	s = strings.ReplaceAll(s, `\t`, "\t")
	return strings.ReplaceAll(strconv.Quote(s), `\u0000`, "")
}

// The sets of words with a name in Go; rules.txt names others: boot, param, module of Linux, rc,
// loader, systemd, shell, and plain, whose words pass anywhere.
const setWord = "word" // values: choices, algorithms, options

// allWords returns all sets, as "set word": words.txt has the names and choices of the catalogue, one set and
// word per line, which a test of the catalogue writes; ownwords.txt those that the catalogue lacks.
func allWords() []string {
	var all []string
	for line := range strings.Lines(texts.Read("redact/words.txt") + texts.Read("redact/ownwords.txt")) {
		if set, words, _ := strings.Cut(line, " "); set != "#" {
			for w := range strings.FieldsSeq(words) {
				all = append(all, set+" "+w)
			}
		}
	}
	return all
}

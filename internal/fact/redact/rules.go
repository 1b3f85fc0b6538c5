package redact

import (
	_ "embed" // the table
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// rulesText is the table; it describes its own format.
//
//go:embed rules.txt
var rulesText string

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
	for line := range strings.Lines(rulesText) {
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

package freebsd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/lazy"
)

// shell reads the assignments of a file that sh(1) would source: a safe subset of the language. It
// reports what would require execution, without guessing. docs/design/reading.md explains why it
// does not use a parser of complete scripts.
type shell struct {
	rc        *rc
	path      string
	text      string
	note      string
	isDefault bool

	pos, line int
	begin     int // of the physical line at pos
	said      struct {
		begin int
		text  string
	}
	// open holds the unclosed compound commands (if, case, loops, functions): what is inside them
	// is conditional. joined means that the statement follows && or ||, and is conditional too.
	open   []opened
	joined bool
	// stop is the error at which sh stops, "" while it continues.
	stop string
	// function is set between a function's name and its body.
	function bool
	count    int
}

// opened is an unclosed compound command, with its position.
type opened struct {
	word, raw string
	line      int
}

// broken records the first error at which sh stops.
func (s *shell) broken(complaint string) {
	s.stop = cmp.Or(s.stop, complaint)
}

// conditional reports whether the current statement may not be executed.
func (s *shell) conditional() bool { return len(s.open) > 0 || s.joined }

func (s *shell) push(opener string, line int, raw string) {
	if len(s.open) < fact.MaxLines {
		s.open = append(s.open, opened{opener, raw, line})
	}
}

// pop closes the innermost compound command, whatever it is: sh would reject a mismatch, and this
// way most of the file is still read.
func (s *shell) pop() {
	if len(s.open) > 0 {
		s.open = s.open[:len(s.open)-1]
	}
}

func (s *shell) inside(opener string) bool {
	return len(s.open) > 0 && s.open[len(s.open)-1].word == opener
}

// run reads the whole file, statement by statement.
func (s *shell) run() {
	for s.pos < len(s.text) && s.count < fact.MaxLines {
		s.count++
		start, line, begin := s.pos, s.line, s.begin
		words, end := s.statement()
		if s.pos == start { // always make progress, even on malformed input
			s.advance()
			continue
		}
		if s.stop != "" { // sh does not execute a statement that it cannot parse
			s.problem(line, s.raw(begin, start), fact.ProblemStops, s.stop)
			return
		}
		s.execute(words, line, s.raw(begin, start), end)
		s.joined = end == "&&" || end == "||" || s.joined && end == "|"
	}
	s.unclosed()
}

// closers maps words to the word that closes them.
var closers = map[string]string{"if": "fi", "case": "esac", "for": "done", "while": "done", "until": "done", "{": "}"}

// unclosed reports a compound command without an end. It ignores parentheses, which are not tracked
// well enough.
func (s *shell) unclosed() {
	if n := len(s.open); n > 0 && s.pos >= len(s.text) && closers[s.open[n-1].word] != "" {
		o := s.open[n-1]
		s.problem(o.line, o.raw, fact.ProblemStops, fmt.Sprintf("end of file unexpected (expecting %q)", closers[o.word]))
	}
}

// word is one word of a statement after expansion.
type word struct {
	text  string
	known bool   // false if its value requires execution
	why   string // what requires it
	// eq is the index of an assignment's equals sign in text, or -1.
	eq int
	// bare is true if no quoting was used: only bare words are keywords.
	bare bool
	// refs lists the variables used in it.
	refs []string
}

// maxRaw is how much of a line is kept as written: one copy is attached to the facts of each of its
// statements.
const maxRaw = 4 << 10

// raw returns the first physical line of a statement that starts on the line at begin, as written.
// Statements on one line share the text.
func (s *shell) raw(begin, start int) string {
	for begin == start && begin < len(s.text) && s.text[begin] == '\n' {
		begin, start = begin+1, start+1
	}
	if s.said.text == "" || s.said.begin != begin {
		rest := s.text[begin:min(len(s.text), begin+maxRaw+1)]
		l, _, _ := strings.Cut(rest, "\n")
		s.said.begin, s.said.text = begin, strings.TrimSuffix(clip(l, maxRaw), "\r")
	}
	return s.said.text
}

func firstWhole(s string) string {
	l, _, _ := strings.Cut(s, "\n")
	return clip(l, maxValue)
}

func (s *shell) advance() {
	if s.text[s.pos] == '\n' {
		s.line++
		s.begin = s.pos + 1
	}
	s.pos++
}

// statement reads words up to a newline or an operator, and returns the operator.
func (s *shell) statement() (words []word, end string) {
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		switch {
		case c == '\n':
			s.advance()
			return words, "\n"
		case c == ' ' || c == '\t':
			s.pos++
		case c == '\\' && strings.HasPrefix(s.text[s.pos:], "\\\n"):
			s.pos++
			s.advance()
		case c == '#':
			for s.pos < len(s.text) && s.text[s.pos] != '\n' {
				s.pos++
			}
		case c == '<' || c == '>':
			s.redirection()
		case strings.IndexByte(";&|()", c) >= 0:
			return words, s.operator()
		default:
			words = append(words, s.word())
		}
	}
	return words, "\n"
}

// redirection skips an operator such as 2>&1 and its word.
func (s *shell) redirection() {
	for s.pos < len(s.text) && strings.IndexByte("<>&", s.text[s.pos]) >= 0 {
		s.pos++
	}
	for s.pos < len(s.text) && (s.text[s.pos] == ' ' || s.text[s.pos] == '\t') {
		s.pos++
	}
	s.word()
}

// operator reads an operator of one or two characters.
func (s *shell) operator() string {
	n := 1
	if s.pos+1 < len(s.text) && s.text[s.pos+1] == s.text[s.pos] && strings.IndexByte(";&|", s.text[s.pos]) >= 0 {
		n = 2
	}
	op := s.text[s.pos : s.pos+n]
	s.pos += n
	return op
}

// execute does what the shell would do with a simple command if it is an assignment, or reports
// that the effect is unknown.
func (s *shell) execute(words []word, line int, raw, end string) {
	if len(words) == 0 {
		s.operatorAlone(end, line, raw)
		return
	}
	if s.keyword(words, end, line, raw) {
		return
	}
	first := words[0]
	if first.bare && first.text == "export" && len(words) > 1 {
		words = words[1:]
	}
	if first.text == ":" { // `: ${name:=value}`: the expansion already assigned it
		return
	}
	if n := assignments(words); n == len(words) && end == "(" {
		s.problem(line, raw, fact.ProblemStops, "sh has no lists in parentheses")
		s.push("(", line, raw)
	} else if n == len(words) && end != "|" && end != "&" && end != "(" {
		for _, w := range words {
			s.assign(w, line, raw)
		}
	} else {
		s.command(words, line, raw)
	}
	if end == ")" {
		s.pop()
	}
}

// operatorAlone tracks the nesting of parentheses; in a case they enclose patterns.
func (s *shell) operatorAlone(end string, line int, raw string) {
	switch {
	case end == "(" && !s.inside("case"):
		s.push("(", line, raw)
	case end == ")" && s.inside("("):
		s.pop()
	}
}

// assignments counts the leading words that are assignments.
func assignments(words []word) int {
	n := 0
	for n < len(words) && words[n].eq > 0 {
		n++
	}
	return n
}

// keyword handles the words that open and close compound commands.
func (s *shell) keyword(words []word, end string, line int, raw string) bool {
	w := words[0]
	if !w.bare {
		return false
	}
	switch w.text {
	case "if", "case", "for", "while", "until", "{":
		if len(s.open) == 0 && !s.function {
			s.problem(line, raw, fact.ProblemUnreadable, "a conditional or loop: what it sets is not known without running it")
		}
		s.function = false
		s.push(w.text, line, raw)
		return true
	case "fi", "esac", "done", "}":
		if len(s.open) == 0 && !s.joined {
			s.problem(line, raw, fact.ProblemStops, fmt.Sprintf("%q unexpected: it closes nothing", w.text))
		}
		s.pop()
		return true
	case "then", "else", "elif", "do", "!":
		if len(words) > 1 {
			s.execute(words[1:], line, raw, end)
		}
		return true
	}
	if end == "(" && len(words) == 1 && w.eq < 0 { // name() { …
		if len(s.open) == 0 {
			s.problem(line, raw, fact.ProblemUnreadable, "a function: not a setting")
		}
		s.function = true
		s.push("(", line, raw) // the following ")" closes it, and the body's "{" opens a new one
		return true
	}
	return end == ")" && s.inside("case") // a pattern
}

// assign records name=value.
func (s *shell) assign(w word, line int, raw string) {
	name, value := w.text[:w.eq], w.text[w.eq+1:]
	l := fact.Line{File: s.path, Number: line, Text: raw, Name: name, Value: value,
		Stage: fact.RCConf, Effective: !s.conditional(), Default: s.isDefault, Note: s.note, Adds: slices.Contains(w.refs, name)}
	switch {
	case s.conditional():
		l.Note = "inside a conditional or function: whether it is set needs execution"
	case !w.known:
		l.Effective = false
		l.Note = "the value needs execution: " + w.why
		s.problem(line, raw, fact.ProblemUnreadable, "the value of "+name+" needs execution: "+w.why)
		delete(s.rc.vars, name)
	default:
		if strings.HasSuffix(value, "\r") {
			l.Note = "ends in a carriage return, which becomes part of the value"
		}
		if swallowed().MatchString(value) {
			s.problem(line, raw, fact.ProblemSyntax, "the value goes on over the lines below, which set nothing: a quote is not closed on its line")
		}
		s.rc.vars[name] = value
	}
	s.rc.add(l)
}

// swallowed matches a value with lines that look like assignments.
var swallowed = lazy.Regexp(`\n\s*[a-z_][a-z0-9_]*=`)

// command handles what is not a plain assignment.
func (s *shell) command(words []word, line int, raw string) {
	name := words[0].text
	switch {
	case name == "." || name == "source":
		s.include(words, line, raw)
	case name == "unset" && !s.conditional():
		for _, w := range words[1:] {
			delete(s.rc.vars, w.text)
			s.rc.unset(w.text)
		}
	case len(s.open) > 0 || name == "return" || name == "local":
	case name == "exit" && !s.conditional():
		ends := "exit ends rc(8) itself"
		if len(words) == 1 || words[1].text == "0" { // init.c, run_script
			ends += fact.GoesOn
		}
		s.problem(line, raw, fact.ProblemStops, ends)
	case len(words) > 1 && variable().MatchString(name) && strings.HasPrefix(words[1].text, "="):
		s.problem(line, raw, fact.ProblemSyntax, name+": not found (no spaces around '=' in a shell assignment)")
	case dotted().MatchString(name):
		v, _, _ := strings.Cut(name, "=")
		s.problem(line, raw, fact.ProblemSyntax, v+": not found (sh has no '.' in names: write "+strings.ReplaceAll(v, ".", "_")+")")
	case appends(name):
		s.problem(line, raw, fact.ProblemSyntax, name+": not found (sh has no '+=')")
	default:
		s.problem(line, raw, fact.ProblemUnreadable, "runs a command ("+clip(name, 40)+"): its effect is not known without running it")
	}
}

// dotted matches a setting of a VLAN whose interface name contains a dot.
var dotted = lazy.Regexp(`^(ifconfig|create_args)_[a-z0-9]+[.][0-9]+=`)

// appends reports "name+=value", an assignment only in other shells.
func appends(word string) bool {
	name, _, ok := strings.Cut(word, "+=")
	return ok && variable().MatchString(name)
}

// include reads `. /path` if the path is literal.
func (s *shell) include(words []word, line int, raw string) {
	if len(s.open) > 0 {
		return // the enclosing conditional is reported
	}
	if len(words) < 2 || !words[1].known || !strings.HasPrefix(words[1].text, "/") {
		if !s.isDefault {
			s.problem(line, raw, fact.ProblemUnreadable, "sources a file that is not known without running it")
		}
		return
	}
	if !s.rc.source(words[1].text, s.note) {
		kind, message := fact.ProblemStops, "cannot open "+words[1].text+": No such file or directory"
		if s.rc.partial {
			kind, message = fact.ProblemInclude, words[1].text+" is not among the files here"
		}
		s.problem(line, raw, kind, message)
	}
}

// problem reports a line that sets nothing, except in the system's own files.
func (s *shell) problem(line int, raw, kind, message string) {
	if s.isDefault || len(s.rc.Problems) > fact.MaxLines {
		return
	}
	s.rc.Problems = append(s.rc.Problems, fact.Problem{File: s.path, Line: line, Text: raw, Kind: kind, Message: message})
}

// unset reverts what earlier lines set.
func (c *Config) unset(name string) {
	for i := range c.Lines {
		if c.Lines[i].Name == name {
			c.Lines[i].Effective = false
		}
	}
}

// variable matches a valid name of a shell variable.
var variable = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_]*$`)

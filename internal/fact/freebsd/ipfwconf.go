package freebsd

import (
	"path"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/filter"
	"linerate/internal/lazy"
)

// ReadIPFW reads an ipfw script or rule file to count its rules, pipes and translations. It does
// not execute scripts: it expands plain variables, and counts the content of loops once. It returns
// the statements that the grammar refuses.
func ReadIPFW(files fact.Files, file string, fw *fact.IPFW) []fact.Problem {
	text, err := files.Read(file)
	if err != nil {
		return nil
	}
	fw.File = file
	return readIPFW(text, file, fw).problems
}

func readIPFW(text, file string, fw *fact.IPFW) *ipfwReader {
	r := &ipfwReader{fw: fw, file: file, vars: map[string]string{}}
	whole, first := "", 0
	for i, line := range fact.Lines(text) {
		if whole == "" {
			first = i + 1
		}
		part, goesOn := strings.CutSuffix(line, "\\")
		if goesOn && commentAt(line) == len(line) && len(whole) < maxValue { // a comment is not continued
			whole += part + "  "
			continue
		}
		whole += line
		r.line(first, whole)
		whole = ""
	}
	r.line(first, whole)
	return r
}

type ipfwReader struct {
	fw       *fact.IPFW
	file     string
	vars     map[string]string
	problems []fact.Problem
	rules    []filter.Rule
	last     int // number of a rule
}

// line parses a line, with continuations joined, by the number of its first line.
func (r *ipfwReader) line(number int, raw string) {
	for _, part := range strings.FieldsFunc(raw[:commentAt(raw)], func(c rune) bool { return c == ';' || c == '&' }) {
		r.command(number, raw, part)
	}
}

// commentAt returns where a comment begins: at a '#' at the start or after a space.
func commentAt(s string) int {
	for i := range len(s) {
		if s[i] == '#' && (i == 0 || isSpace(s[i-1])) {
			return i
		}
	}
	return len(s)
}

// command parses one command: an assignment, a call of ipfw, or a bare rule.
func (r *ipfwReader) command(number int, raw, s string) {
	s = strings.TrimSpace(s)
	if name, value, ok := strings.Cut(s, "="); ok && variable().MatchString(name) {
		r.vars[name] = strings.Trim(r.expand(value), `"'`) + strings.Repeat("$", strings.Count(value, `"`)%2) // unknown: it goes on below
		return
	}
	words := strings.Fields(afterComma().ReplaceAllString(strings.NewReplacer(`\`, "", `""`, "$empty").Replace(r.expand(s)), ",")) // such a script fills the variable elsewhere
	for len(words) > 0 && (path.Base(words[0]) == "ipfw" || strings.HasPrefix(words[0], "-")) {
		words = words[1:]
	}
	if len(words) < 2 {
		return
	}
	r.verb(fact.Line{File: r.file, Number: number, Text: raw, Stage: fact.Conf, Effective: true}, words)
}

// afterComma matches a list that ipfw(8) joins from several arguments (sbin/ipfw/main.c).
var afterComma = lazy.Regexp(`,[ \t]+`)

// verb processes one command of ipfw(8).
func (r *ipfwReader) verb(at fact.Line, w []string) {
	if ipfwGrammar().keywords[w[0]] && (w[0] == "add" || hasAny(w, "config")) {
		r.problems = ipfwGrammar().refuse(r.problems, at, w, "ipfw(8) does not take '%s' here, or not with what follows")
	}
	switch w[0] {
	case "add":
		r.rule(at, w[1:])
	case "pipe", "queue":
		if hasAny(w, "config") {
			r.fw.Pipes++
		}
	case "nat":
		at.Name, at.Value = "nat", strings.Join(w[1:], " ")
		r.fw.NATLines = append(r.fw.NATLines, at)
	}
}

// rule counts one rule; it skips a leading number, set and probability.
func (r *ipfwReader) rule(at fact.Line, w []string) {
	r.fw.Rules++
	r.model(at.Number, w)
	if hasAny(w, "keep-state", "limit", "record-state", "set-limit") {
		r.fw.Stateful++
	}
	for i := range w {
		if w[i] == "nat" || w[i] == "divert" {
			r.fw.NAT++
			at.Name, at.Value = w[i], strings.Join(w[i:], " ")
			r.fw.NATLines = append(r.fw.NATLines, at)
			return
		}
	}
}

// expand replaces $name and ${name} by the script's own assignments.
func (r *ipfwReader) expand(s string) string {
	room := maxValue
	return dollar().ReplaceAllStringFunc(s, func(ref string) string {
		value, ok := r.vars[strings.Trim(ref, "${}")]
		if room -= len(value); !ok || room < 0 {
			return ref
		}
		return value
	})
}

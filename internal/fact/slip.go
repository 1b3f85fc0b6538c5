package fact

import (
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"linerate/internal/fact/redact"
	"linerate/internal/fact/texts"
	"linerate/internal/lazy"
	"linerate/internal/list"
)

// slip is a row of slips.txt.
type slip struct {
	name, excuse  string
	files         []string
	json, within  bool
	wrong, unless func() *regexp.Regexp // compiled when a host has such a file
	needs         func() string         // a word that every wrong text contains; most files lack it
}

var slips = sync.OnceValue(func() []slip {
	slipsText := texts.Read("slips.txt")
	groups := strings.NewReplacer(strings.FieldsFunc(slipGroups().FindString(slipsText), func(r rune) bool { return r == '\t' || r == '\n' })...)
	return list.Map(list.Rows(slipGroups().ReplaceAllString(slipsText, "")), func(row []string) slip {
		s := slip{name: row[0], files: strings.Fields(groups.Replace(row[1])), wrong: lazy.Regexp(strings.TrimPrefix(row[2], "@")), json: row[2] == "JSON", within: row[2][0] == '@'}
		s.needs = Word(strings.TrimPrefix(row[2], "@"))
		if len(row) > 3 {
			s.excuse = row[3]
			s.unless = lazy.Regexp(strings.TrimLeft(row[3], "=~&"))
		}
		return s
	})
})

// rowsByPattern has the rows of slips by their patterns, of which many rows share one.
var rowsByPattern = sync.OnceValue(func() map[string][]int {
	rows := map[string][]int{}
	for i, s := range slips() {
		for _, pattern := range s.files {
			rows[pattern] = append(rows[pattern], i)
		}
	}
	return rows
})

// slipsOf returns the rows that apply to a single file.
func slipsOf(file string) (out []slip) {
	var rows []int
	for pattern, of := range rowsByPattern() {
		if list.Globs(pattern, file) {
			rows = append(rows, of...)
		}
	}
	slices.Sort(rows)
	for _, i := range slices.Compact(rows) {
		if s := slips()[i]; s.files[0] != "+" {
			out = append(out, s)
		}
	}
	return out
}

// slipGroups matches the rows that name groups of files.
var slipGroups = lazy.Regexp(`(?m)(?:^@.*\n)+`)

// Word returns what every match of a pattern contains.
func Word(pattern string) func() string {
	return sync.OnceValue(func() string {
		tree, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			return ""
		}
		return needed(tree)
	})
}

// needed returns the longest text that every match of an expression is sure to contain.
func needed(of *syntax.Regexp) (word string) {
	switch {
	case of.Op == syntax.OpLiteral && of.Flags&syntax.FoldCase == 0:
		return string(of.Rune)
	case of.Op == syntax.OpConcat || of.Op == syntax.OpCapture || of.Op == syntax.OpPlus:
		for _, part := range of.Sub {
			if w := needed(part); len(w) > len(word) {
				word = w
			}
		}
	}
	return word
}

// bare empties comment lines, but not a script's #! line.
func bare(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		said := strings.TrimLeft(line, " \t")
		if remark := len(said) > 1 && said[0] == '#' && said[1] != '!' && said[1] != '\n'; remark || strings.HasPrefix(said, ";") {
			line = line[len(strings.TrimSuffix(line, "\n")):]
		}
		out.WriteString(line)
	}
	return out.String()
}

// TextFiles returns the patterns of the files of slips.txt.
func TextFiles() []string {
	all := slices.Concat(list.Map(slips(), func(s slip) []string { return s.files })...)
	for i, f := range all {
		all[i] = strings.TrimRight(f, "+?")
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// SlipsIn returns the mistakes in the text of a hand-written file, once per case of slips.txt, with
// the line where each ends, and the values that rules compare, named "service:word".
func SlipsIn(file, text string) (all []Problem, told []Line) {
	rows := slipsOf(file)
	if len(rows) == 0 {
		return nil, nil
	}
	stripped := strings.ReplaceAll(bare(text), "\r", "")
	placed := sync.OnceValue(func() string { return within(file, stripped) })
	for _, s := range rows {
		plain := stripped
		if s.within {
			plain = placed()
		}
		if strings.Contains(s.name, ":") && strings.Contains(text, redact.Mark) {
			continue // of a capture, whose masked words may say otherwise
		} else if strings.Contains(s.name, ":") {
			told = append(told, s.tells(file, plain)...)
		} else if at := s.in(text, plain); at >= 0 {
			all = append(all, Problem{File: file, Line: 1 + strings.Count(plain[:at], "\n"), Kind: ProblemSlip, Message: s.name})
		}
	}
	return all, told
}

func (s slip) tells(file, text string) (told []Line) {
	if !strings.Contains(text, s.needs()) {
		return nil
	}
	for _, at := range s.wrong().FindAllStringSubmatchIndex(text, 256) {
		l := Line{File: file, Number: 1 + strings.Count(strings.TrimRight(text[:at[1]], "\n"), "\n"), Name: s.name, Stage: Conf, Effective: true}
		for i := 2; i < len(at); i += 2 {
			l.Value = strings.TrimSpace(l.Value + " " + text[max(at[i], 0):max(at[i+1], 0)])
		}
		told = append(told, l)
	}
	return told
}

// SlipsAcross finds what files of a host say against each other, by the cases whose files, all of
// which must be there but those with "?", stand behind "+". The line is the one where it ends.
func SlipsAcross(texts map[string]string) []Problem {
	const mark = "==> " // begins the line with a file's path, above its text
	names, matching := slices.Sorted(maps.Keys(texts)), map[string]string{}
	joined := func(pattern string) string {
		joint, known := matching[pattern]
		if known {
			return joint
		}
		for _, name := range names {
			if texts[name] != "" && list.Globs(pattern, name) {
				joint += mark + name + "\n" + bare(texts[name]) + "\n"
			}
		}
		matching[pattern] = joint
		return joint
	}
	var all []Problem
	for _, s := range slips() {
		joint, whole := "", s.files[0] == "+"
		for _, f := range s.files[1:] {
			if !whole {
				break
			}
			pattern, optional := strings.CutSuffix(f, "?")
			more := joined(pattern)
			joint, whole = joint+more, optional || more != ""
		}
		if !whole {
			continue
		}
		if at := s.in(joint, joint); at >= 0 {
			at += max(0, strings.IndexByte(joint[at:], '\n')) // which may be in a path
			file, above, _ := strings.Cut(joint[strings.LastIndex(joint[:at], mark)+len(mark):at], "\n")
			all = append(all, Problem{File: file, Line: 1 + strings.Count(above, "\n"), Kind: ProblemSlip, Message: s.name})
		}
	}
	return all
}

// in returns where a slip's text ends, -1 if there is none; raw has the comments.
func (s slip) in(raw, text string) int {
	if s.json {
		var broken *json.SyntaxError
		if err := json.Unmarshal([]byte(strings.TrimPrefix(raw, "\ufeff")), new(any)); strings.TrimSpace(raw) != "" && errors.As(err, &broken) && !strings.Contains(raw, redact.Mark) {
			return min(int(broken.Offset), len(text))
		}
		return -1
	}
	if !strings.Contains(text, s.needs()) {
		return -1
	}
	ofMatch := strings.HasPrefix(s.excuse, "=")
	if s.unless != nil && !ofMatch && strings.Contains(text, redact.Mark) {
		return -1 // a masked word may be the excuse
	}
	if strings.HasPrefix(s.excuse, "~") || strings.HasPrefix(s.excuse, "&") {
		return s.named(text, s.excuse[0] == '&')
	}
	if s.unless != nil && !ofMatch && s.unless().MatchString(text) {
		return -1
	}
	for _, at := range s.wrong().FindAllStringIndex(text, -1) {
		if found := strings.TrimRight(text[at[0]:at[1]], "\n"); !strings.Contains(found, "{{") && (!ofMatch || !strings.Contains(found, redact.Mark) && !s.unless().MatchString(found)) {
			return at[0] + len(found)
		}
	}
	return -1
}

// named returns where the first name in a text ends that is declared, or is not; -1 if there is none.
func (s slip) named(text string, is bool) int {
	declared := map[string]bool{"": !is}
	for _, m := range s.unless().FindAllStringSubmatch(text, -1) {
		if strings.Join(m[1:], "") == "" {
			return -1
		}
		for _, name := range strings.Fields(strings.Join(m[1:], " ")) {
			before, _, _ := strings.Cut(name, ":") // of a route's routing table
			declared[name], declared[before] = true, true
		}
	}
	for _, at := range s.wrong().FindAllStringSubmatchIndex(text, -1) {
		for i := 2; i < len(at); i += 2 {
			for _, name := range strings.Fields(text[max(at[i], 0):max(at[i+1], 0)]) {
				if declared[name] == is {
					return at[i+1]
				}
			}
		}
	}
	return -1
}

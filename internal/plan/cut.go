package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/list"
)

// Cuts are the lines, and words of command lines, that Fixes takes out of the host's
// files: those that stand by themselves, where that is all there is to do.
func (p Plan) Cuts() []Removal {
	return list.Filter(p.Removals(), func(r Removal) bool {
		return r.whole && slices.ContainsFunc(p.Remove, r.same)
	})
}

// goesOn reports a line that other lines of the file belong to, or the other way
// round: a continued one, a value over several, one of several commands.
func goesOn(l fact.Line) bool {
	text := strings.TrimSpace(l.Text)
	return strings.HasSuffix(text, `\`) || strings.Contains(l.Value, "\n") ||
		(l.Stage == fact.RCConf || l.Stage == fact.Conf) && strings.ContainsAny(text, ";&|") || !strings.Contains(text, l.Name[strings.LastIndexAny(l.Name, "./")+1:])
}

// Shorten is a file's text without what cuts take out of it. Lines are as the
// file has them: the others stay as they are, byte for byte.
func Shorten(text string, cuts []Removal) string {
	byLine := map[int][]Removal{}
	for _, c := range cuts {
		byLine[c.Line] = append(byLine[c.Line], c)
	}
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		n++
		whole := slices.ContainsFunc(byLine[n], func(c Removal) bool { return c.Word == "" })
		if whole {
			continue
		}
		for _, c := range byLine[n] {
			line = withoutWord(line, c.Word)
		}
		b.WriteString(line)
	}
	return b.String()
}

// withoutWord takes a parameter, with its value, out of a command line.
func withoutWord(line, word string) string {
	m := regexp.MustCompile(`(^|["'\s])(?:sysctl\.)?` + regexp.QuoteMeta(word) + `(=[^\s"']*)?(["'\s]|$)`).FindStringSubmatchIndex(line)
	if m == nil {
		return line
	}
	before, after := line[:m[3]], line[m[6]:]
	if strings.HasSuffix(before, " ") && strings.HasPrefix(after, " ") {
		after = after[1:]
	}
	if strings.HasSuffix(before, " ") && after != "" && strings.ContainsAny(after[:1], "\"'\n") {
		before = strings.TrimRight(before, " ")
	}
	if before != "" && strings.ContainsAny(before[len(before)-1:], `"'`) {
		after = strings.TrimLeft(after, " ")
	}
	return before + after
}

// context is how many lines a difference shows around what it changes.
const context = 3

// Unified is the difference between a file's text and a shorter one, as
// diff -u writes it and patch(1) reads it; "" where they are the same.
func Unified(file, old, short string, cuts []Removal) string {
	if old == short {
		return ""
	}
	gone := map[int][]Removal{}
	for _, c := range cuts {
		gone[c.Line] = append(gone[c.Line], c)
	}
	lines := slices.Collect(strings.Lines(old))
	name := strings.TrimPrefix(file, "/")
	var b strings.Builder
	fmt.Fprintf(&b, "--- a/%s\n+++ b/%s\n", name, name)
	dropped := 0 // of lines before the hunk
	for i := 0; i < len(lines); {
		if len(gone[i+1]) == 0 {
			i++
			continue
		}
		from, to := max(0, i-context), i+1
		for j := to; j < min(len(lines), to+2*context); j++ {
			if len(gone[j+1]) > 0 {
				to = j + 1
			}
		}
		to = min(len(lines), to+context)
		hunk, less := hunkOf(lines, from, to, gone)
		newStart := from + 1 - dropped
		if to-from-less == 0 {
			newStart--
		}
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n%s", from+1, to-from, newStart, to-from-less, hunk)
		dropped += less
		i = to
	}
	return b.String()
}

// hunkOf writes lines from one to another, and says how many are gone.
func hunkOf(lines []string, from, to int, gone map[int][]Removal) (text string, less int) {
	var b strings.Builder
	put := func(mark, line string) {
		b.WriteString(mark + line)
		if !strings.HasSuffix(line, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
	for n := from; n < to; n++ {
		cuts := gone[n+1]
		if len(cuts) == 0 {
			put(" ", lines[n])
			continue
		}
		put("-", lines[n])
		for i := range cuts {
			cuts[i].Line = 1
		}
		if left := Shorten(lines[n], cuts); left != "" {
			put("+", left)
		} else {
			less++
		}
		for i := range cuts {
			cuts[i].Line = n + 1
		}
	}
	return b.String(), less
}

// Rename gives the files of lines that go the names by which somebody knows them.
func (p Plan) Rename(name func(string) string) {
	for i := range p.Remove {
		p.Remove[i].File = name(p.Remove[i].File)
	}
	for _, s := range p.Settings {
		for i := range s.Instead {
			s.Instead[i].File = name(s.Instead[i].File)
		}
	}
}

package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/list"
)

// Cuts returns the lines, and parameters of kernel command lines, that Fixes removes from the host's files: those that hold a
// complete setting whose removal is the complete fix.
func (p Plan) Cuts() []Removal {
	return list.Filter(p.Removals(), func(r Removal) bool {
		return r.whole && slices.ContainsFunc(p.Remove, r.same)
	})
}

// goesOn reports whether a line cannot be removed alone: a continued line, a value that spans several lines, or one of several
// commands on a line.
func goesOn(l fact.Line) bool {
	text := strings.TrimSpace(l.Text)
	return strings.HasSuffix(text, `\`) || strings.Contains(l.Value, "\n") ||
		(l.Stage == fact.RCConf || l.Stage == fact.Conf) && strings.ContainsAny(text, ";&|") || !strings.Contains(text, l.Name[strings.LastIndexAny(l.Name, "./")+1:])
}

// Shorten returns the text of a file without the cuts. All other lines stay unchanged, byte for byte.
func Shorten(text string, cuts []Removal) string {
	byLine := linewise(cuts)
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

// linewise maps lines to their cuts.
func linewise(cuts []Removal) map[int][]Removal {
	lines := map[int][]Removal{}
	for _, c := range cuts {
		lines[c.Line] = append(lines[c.Line], c)
	}
	return lines
}

// withoutWord removes a parameter and its value from a command line.
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

// Shown separates cuts of lines that a redacted copy of the text has unchanged from the others: in a diff, patch(1) would refuse those.
func Shown(old, seen string, cuts []Removal) (as, not []Removal) {
	before, after := strings.Split(old, "\n"), strings.Split(seen, "\n")
	same := func(r Removal) bool { return r.Line <= len(before) && before[r.Line-1] == after[r.Line-1] }
	return list.Filter(cuts, same), list.Filter(cuts, func(r Removal) bool { return !same(r) })
}

// Unified returns the difference that the cuts make to a file, in the format of diff -U0 and patch(1). It prints removed lines as
// in seen, a redacted copy of old, and no context lines, which might hold anything.
func Unified(file, old, seen string, cuts []Removal) string {
	if len(cuts) == 0 {
		return ""
	}
	gone := linewise(cuts)
	name := strings.TrimPrefix(file, "/")
	var b strings.Builder
	fmt.Fprintf(&b, "--- a/%s\n+++ b/%s\n", name, name)
	shown := slices.Collect(strings.Lines(seen))
	n, dropped := 0, 0
	for line := range strings.Lines(old) {
		n++
		of := gone[n]
		if len(of) == 0 {
			continue
		}
		for i := range of {
			of[i].Line = 1
		}
		if Shorten(line, of) == "" {
			dropped++
			fmt.Fprintf(&b, "@@ -%d +%d,0 @@\n%s", n, n-dropped, diffLine("-", shown[n-1]))
			continue
		}
		fmt.Fprintf(&b, "@@ -%d +%d @@\n%s%s", n, n-dropped, diffLine("-", shown[n-1]), diffLine("+", Shorten(shown[n-1], of)))
	}
	return b.String()
}

func diffLine(mark, line string) string {
	if strings.HasSuffix(line, "\n") {
		return mark + line
	}
	return mark + line + "\n\\ No newline at end of file\n"
}

// Rename replaces the file names of removed lines by those that the user knows.
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

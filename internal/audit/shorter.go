package audit

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"linerate/internal/fact"
)

// Cut is what a finding's fix takes out of a file: a line that sets nothing
// else, or a word of one that does.
type Cut struct {
	// ID is of the finding.
	ID   string
	File string
	Line int
	// Word is the word to take out; "" for the whole line.
	Word string
}

// Cuts are what the fixes of a report's findings take out of the host's files:
// those that say to remove a line, where that is all there is to do.
func (r *Report) Cuts() []Cut { return slices.Clone(r.cuts) }

// cutsOf finds what findings take out, of lines that stand by themselves.
func (a *auditor) cutsOf(findings []Finding) []Cut {
	at := map[place][]fact.Line{}
	for _, s := range a.f.Settings {
		for _, l := range s.Lines {
			p := place{file: l.File, line: l.Number}
			at[p] = append(at[p], l)
		}
	}
	var cuts []Cut
	for _, f := range findings {
		lines := at[place{file: f.File, line: f.Line}]
		if f.Action != Remove || f.Line == 0 || packaged(f.File) || len(lines) == 0 {
			continue
		}
		i := slices.IndexFunc(lines, func(l fact.Line) bool { return l.Name == f.Name })
		switch {
		case i < 0 || lines[i].Kept || lines[i].Default || lines[i].Place != "" || goesOn(lines[i]): // what a product keeps is more than a line
		case lines[i].Stage == fact.CommandLine:
			cuts = append(cuts, Cut{f.ID, f.File, f.Line, strings.TrimPrefix(f.Name, "cmdline.")})
		case len(lines) == 1:
			cuts = append(cuts, Cut{ID: f.ID, File: f.File, Line: f.Line})
		}
	}
	slices.SortStableFunc(cuts, func(x, y Cut) int { return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line)) })
	return cuts
}

// goesOn reports a line that other lines of the file belong to, or the other way
// round: a continued one, a value over several, one of several commands.
func goesOn(l fact.Line) bool {
	text := strings.TrimSpace(l.Text)
	return strings.HasSuffix(text, `\`) || strings.Contains(l.Value, "\n") ||
		(l.Stage == fact.RCConf || l.Stage == fact.Conf) && strings.ContainsAny(text, ";&|") || !strings.Contains(text, lastPart(l.Name))
}

// Shorten is a file's text without what cuts take out of it. Lines are as the
// file has them: the others stay as they are, byte for byte.
func Shorten(text string, cuts []Cut) string {
	byLine := map[int][]Cut{}
	for _, c := range cuts {
		byLine[c.Line] = append(byLine[c.Line], c)
	}
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		n++
		whole := slices.ContainsFunc(byLine[n], func(c Cut) bool { return c.Word == "" })
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

// Diff is the unified difference between a file's text and a shorter one, as
// diff -u writes it and patch(1) reads it; "" where they are the same.
func Diff(file, old, short string, cuts []Cut) string {
	if old == short {
		return ""
	}
	gone := map[int][]Cut{}
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
func hunkOf(lines []string, from, to int, gone map[int][]Cut) (text string, less int) {
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

package fact

import (
	"cmp"
	"path"
	"regexp"
	"strings"
	"sync"

	"linerate/internal/fact/texts"
	"linerate/internal/lazy"
	"linerate/internal/list"
)

// Said is a statement of a file, NAME=VALUE, as rows of needs.txt see it, and the block that it stands in.
type Said struct {
	File, Text, Block string
	Line              int
}

// need is a row of needs.txt.
type need struct {
	name, says          string
	inBlock             bool
	word                func() string // of every wrong text
	wrong, with, unless func() *regexp.Regexp
}

// needs has the rows by what they are about.
var needs = sync.OnceValue(func() map[string][]*need {
	all := map[string][]*need{}
	for _, row := range list.Rows(texts.Read("needs.txt")) {
		name, inBlock := strings.CutPrefix(row[1], "=")
		n := &need{name: name, inBlock: inBlock, says: strings.Join(row[5:], "\t"), word: Word(row[2])}
		n.wrong, n.with, n.unless = lazy.Regexp("(?m)"+row[2]), lazy.Regexp("(?m)"+row[3]), lazy.Regexp("(?m)"+row[4])
		all[row[0]] = append(all[row[0]], n)
	}
	return all
})

// Needs returns the statements that lack others, or contradict them, by the rows about a format or a kind of interface.
func Needs(of string, said []Said) (all []Problem) {
	blocks := map[string][]Said{}
	for _, s := range said {
		blocks[s.Block] = append(blocks[s.Block], s)
	}
	for _, n := range needs()[of] {
		for _, unit := range map[bool]map[string][]Said{true: blocks, false: {"": said}}[n.inBlock] {
			text := strings.Join(list.Map(unit, func(s Said) string { return s.Text }), "\n") + "\n"
			if !strings.Contains(text, n.word()) || !n.with().MatchString(text) || n.unless().MatchString(text) {
				continue
			}
			for _, at := range n.wrong().FindAllStringIndex(text, 1) {
				s := unit[strings.Count(text[:at[0]], "\n")]
				key, _, _ := strings.Cut(s.Text, "=")
				all = append(all, Problem{File: s.File, Line: s.Line, Kind: ProblemSlip, Message: n.name, Detail: strings.ReplaceAll(n.says, "%k", path.Ext("." + key)[1:])})
			}
		}
	}
	list.Sort(all, func(a, b Problem) int { return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line) })
	return all
}

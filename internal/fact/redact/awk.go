package redact

import (
	_ "embed" // the engine of hosts that have this package as a script only
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

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

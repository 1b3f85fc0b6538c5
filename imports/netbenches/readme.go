package netbenches

import (
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"

	"linerate/internal/stats/ministat"
)

// Readme is a README: what its author says of a study.
type Readme struct {
	File    *File
	Dir     string
	Title   string
	Facts   []string // bulleted lines: hardware, release, load
	Blocks  []Block
	Mention []string // relative paths it refers to
}

// Block is one ministat output quoted in a README.
type Block struct {
	ministat.Block
	Rows []Row
}

// Row is one data set of a block: its legend and its summary as printed.
type Row struct {
	Symbol byte
	Label  string
	N      int
	Min    float64
	Max    float64
	Median float64
	Mean   float64
	Stddev float64
	Test   *ministat.PrintedTest // against the block's first row; nil for that row
}

// blocks finds the ministat outputs of a text and parses their numbers.
func blocks(text string) []Block {
	var out []Block
	for _, m := range ministat.FindBlocks(text) {
		b := Block{Block: m}
		names := map[byte]string{}
		for _, l := range m.Legend {
			names[l.Symbol] = l.Name
		}
		for _, r := range m.Rows {
			b.Rows = append(b.Rows, Row{
				Symbol: r.Symbol, Label: names[r.Symbol], N: r.N, Min: printed(r.Min), Max: printed(r.Max),
				Median: printed(r.Median), Mean: printed(r.Avg), Stddev: printed(r.Stddev), Test: r.Test,
			})
		}
		if len(b.Rows) > 0 {
			out = append(out, b)
		}
	}
	return out
}

// printed reads a number as ministat prints it; NaN if it is none.
func printed(s string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// maxFacts bounds what is kept of a README's prose.
const maxFacts = 60

var link = regexp.MustCompile(`(?:\.\./)+[A-Za-z0-9_./-]+`)

func parseReadme(f *File, data []byte) *Readme {
	r := &Readme{File: f, Dir: path.Dir(f.Path)}
	fenced, begun := false, false
	for line := range strings.Lines(string(data)) {
		s := strings.TrimSpace(line)
		if strings.HasPrefix(s, "```") {
			fenced, begun = !fenced, true
			continue
		}
		if fenced {
			continue
		}
		switch {
		case s == "":
		case !begun:
			r.Title, begun = strings.TrimRight(strings.TrimSpace(strings.TrimLeft(s, "#")), ":"), true
		case (strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "* ")) && len(r.Facts) < maxFacts:
			r.Facts = append(r.Facts, strings.TrimSpace(s[2:]))
		}
	}
	r.Mention = link.FindAllString(string(data), 50)
	r.Blocks = blocks(string(data))
	return r
}

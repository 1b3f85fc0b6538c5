package site

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/fact/release"
	"linerate/internal/tunable"
	"linerate/internal/tunable/explain"
)

//go:embed site.js
var script []byte

//go:embed site.css
var style string

// indexer collects what the search needs: entries, and for each word the entries that
// have it, by how much the word says of them.
type indexer struct {
	entries []entry
	words   map[string]map[int]int // word → entry → weight
	roles   []string
}

// entry is a line of the search's results, as the script reads it.
type entry struct {
	Name string `json:"n"`
	URL  string `json:"u"`
	OS   int    `json:"o"` // 0 FreeBSD, 1 Linux
	Text string `json:"t"`
	// Releases are bits in the order of explain.Releases: on which it exists.
	Releases uint32 `json:"r"`
	Flags    int    `json:"f"`
	Roles    []int  `json:"g,omitempty"`
}

// Flags of an entry.
const (
	isMeasured = 1 << iota
	isGone
	isRefuted
	isDriver
)

// What a word is worth by where it stands.
const (
	inText    = 1
	inSummary = 2
	inIdea    = 3
	inName    = 6
)

// add takes a record in.
func (x *indexer) add(c *tunable.Catalogue, r *tunable.Record, p explain.Page, url string, roles []string) {
	if x.words == nil {
		x.words = map[string]map[int]int{}
	}
	e := entry{Name: r.Name, URL: url + ".html", Text: firstSentence(r.Summary)}
	if r.OS == tunable.Linux {
		e.OS = 1
	}
	for i, name := range explain.Releases[r.OS] {
		if rel, err := release.Parse(name); err == nil && r.At(rel).Exists {
			e.Releases |= 1 << i
		}
	}
	for flag, set := range map[int]bool{isMeasured: len(p.Evidence) > 0, isGone: !r.Entry(release.Release{}).Exists, isRefuted: refuted(p), isDriver: r.Driver != ""} {
		if set {
			e.Flags |= flag
		}
	}
	for _, name := range roles {
		i := slices.Index(x.roles, name)
		if i < 0 {
			i, x.roles = len(x.roles), append(x.roles, name)
		}
		e.Roles = append(e.Roles, i)
	}
	n := len(x.entries)
	x.entries = append(x.entries, e)
	k, _ := c.Concept(r.Concept)
	x.text(n, r.Name, inName)
	x.text(n, k.Name+" "+k.Title, inIdea)
	x.text(n, r.Summary, inSummary)
	x.text(n, strings.Join([]string{r.Helps, r.Hurts, k.Summary, r.Subsystem, r.Unit}, " "), inText)
}

// text notes the words of a text; a word of a name counts whole, and in its parts.
func (x *indexer) text(n int, text string, weight int) {
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') }) {
		w = Stem(w)
		if len(w) < 2 || len(w) > 32 || stop[w] {
			continue
		}
		if x.words[w] == nil {
			x.words[w] = map[int]int{}
		}
		x.words[w][n] = max(x.words[w][n], weight)
	}
}

// stop are words that say nothing of a tunable.
var stop = map[string]bool{"the": true, "of": true, "and": true, "is": true, "it": true, "to": true, "in": true, "that": true, "for": true, "on": true, "or": true, "as": true, "an": true, "by": true, "are": true, "with": true, "when": true, "be": true, "at": true, "no": true, "not": true, "from": true, "which": true, "this": true}

// Stem is a word without a plural's s, as the script does it too.
func Stem(w string) string {
	if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
		return w[:len(w)-1]
	}
	return w
}

// refuted: what somebody says of it is wrong, or was right long ago.
func refuted(p explain.Page) bool {
	return slices.ContainsFunc(p.Claims, func(c explain.Claim) bool { return c.Verdict == tunable.Wrong || c.Verdict == tunable.Stale })
}

// firstSentence is what a summary says first, of at most a line and a half.
func firstSentence(s string) string {
	s, _, _ = strings.Cut(s, ". ")
	if r := []rune(s); len(r) > 140 {
		return strings.TrimSpace(string(r[:138])) + " …"
	}
	return strings.TrimSuffix(s, ".")
}

// script is the index as a script that a page loads, also from file://.
func (x *indexer) script() ([]byte, error) {
	words := make([]string, 0, len(x.words))
	for w := range x.words {
		words = append(words, w)
	}
	slices.Sort(words)
	posts := make([][]int, len(words))
	for i, w := range words {
		for n, weight := range x.words[w] {
			posts[i] = append(posts[i], n<<3|weight)
		}
		slices.Sort(posts[i])
		for k := len(posts[i]) - 1; k > 0; k-- { // differences are shorter
			posts[i][k] -= posts[i][k-1]
		}
	}
	data, err := json.Marshal(map[string]any{
		"entries": x.entries, "words": strings.Join(words, " "), "posts": posts, "roles": x.roles,
		"releases": [][]string{explain.Releases[tunable.FreeBSD], explain.Releases[tunable.Linux]},
	})
	if err != nil {
		return nil, fmt.Errorf("write the search's index: %w", err)
	}
	return slices.Concat([]byte("window.LINERATE="), data, []byte(";\n")), nil
}

// assets writes what pages share.
func (m *maker) assets(x *indexer) error {
	index, err := x.script()
	for _, f := range []struct {
		name string
		data []byte
	}{{"index.js", index}, {"site.js", script}, {"site.css", Style()}} {
		if err == nil {
			err = m.put(f.name, f.data)
		}
	}
	return err
}

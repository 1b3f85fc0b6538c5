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

// entry is a line of the search's results, as the script reads it.
type entry struct {
	Name string `json:"n"`
	URL  string `json:"u"`
	OS   int    `json:"o"` // 0 FreeBSD, 1 Linux
	Text string `json:"t"`
	Idea string `json:"i,omitempty"` // what it is found by, too
	// Releases are bits in the order of explain.Releases: on which it exists.
	Releases uint32 `json:"r"`
	Flags    int    `json:"f"`
}

// Flags of an entry.
const (
	isMeasured = 1 << iota
	isGone
	isRefuted
	isDriver
)

// entryOf is a record as the search finds it.
func entryOf(c *tunable.Catalogue, r *tunable.Record, p explain.Page, url string) entry {
	k, _ := c.Concept(r.Concept)
	e := entry{Name: r.Name, URL: url + ".html", Text: firstSentence(r.Summary), Idea: strings.TrimSpace(k.Name + " " + k.Title)}
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
	return e
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

// assets writes what pages share; the index is a script that a page loads, also from file://.
func (m *maker) assets(entries []entry) error {
	data, err := json.Marshal(map[string]any{"entries": entries, "releases": [][]string{explain.Releases[tunable.FreeBSD], explain.Releases[tunable.Linux]}})
	if err != nil {
		return fmt.Errorf("write the search's index: %w", err)
	}
	for name, data := range map[string][]byte{"index.js": slices.Concat([]byte("window.LINERATE="), data, []byte(";\n")), "site.js": script, "site.css": Style()} {
		if err := m.put(name, data); err != nil {
			return err
		}
	}
	return nil
}

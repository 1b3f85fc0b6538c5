// Package audit says what is wrong, useless or missing in the tuning of a
// host: facts × catalogue × role → findings. It is pure: it sets nothing,
// reads nothing, and gives the same findings for the same facts.
//
// Two kinds of checks. Structural ones compare every line of the host's files
// with the catalogue's record of its name: gone, renamed, in the wrong file,
// equal to the default, out of range, set twice. Rules are data
// (catalogue/rules/*.yaml): conditions over facts, catalogue and role.
package audit

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact/redact"
	"linerate/internal/setting"
)

// Version is the version of the JSON document that Report marshals to.
const Version = 1

// Severity says how much a finding should trouble an administrator.
type Severity string

// The severities. A host with errors does not do what its files say, or is
// harmed by them; a warning costs something; info is what can go or be known.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

var severities = []Severity{Info, Warning, Error}

// Severities lists the severities, least first.
func Severities() []Severity { return slices.Clone(severities) }

// AtLeast reports whether s is as bad as floor, or worse.
func (s Severity) AtLeast(floor Severity) bool {
	return slices.Index(severities, s) >= slices.Index(severities, floor)
}

// Kind is what sort of thing is wrong.
type Kind string

// The kinds of findings.
const (
	Removed       Kind = "removed"        // gone on this release
	Renamed       Kind = "renamed"        // has another name on this release
	Unknown       Kind = "unknown"        // a typo, or its module is absent
	Misplaced     Kind = "misplaced"      // set where it has no effect
	Default       Kind = "default"        // sets what is so anyway
	LowersDefault Kind = "lowers-default" // replaces a better default
	Outdated      Kind = "outdated"       // later releases leave it behind
	Range         Kind = "range"          // wrong type, or out of range
	Duplicate     Kind = "duplicate"      // set more than once
	Drift         Kind = "drift"          // the file says X, the host runs Y
	Ineffective   Kind = "ineffective"    // has no effect here
	Harmful       Kind = "harmful"        // does harm here
	Coupled       Kind = "coupled"        // disagrees with another setting
	Memory        Kind = "memory"         // takes more memory than is sound
	Order         Kind = "order"          // set before it can be
	Counter       Kind = "counter"        // the kernel counts trouble
	Folklore      Kind = "folklore"       // rests on a claim only
	Syntax        Kind = "syntax"         // the system rejects the line
)

var kinds = []Kind{Syntax, Removed, Renamed, Unknown, Misplaced, Range, Harmful, Counter, Memory, Coupled,
	LowersDefault, Order, Drift, Duplicate, Ineffective, Folklore, Outdated, Default}

// Action is what the administrator should do. Keep and remove are answers.
type Action string

// The actions.
const (
	Remove  Action = "remove"
	Move    Action = "move"
	Change  Action = "change"
	Keep    Action = "keep"
	Measure Action = "measure"
)

var actions = []Action{Remove, Move, Change, Keep, Measure}

// Finding is one thing an audit has to say, at one place.
type Finding struct {
	// ID is stable: the rule's id, a colon and what it is about. It is the
	// same in every run and release for the same trouble at the same name,
	// and unique in a report.
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	Kind     Kind     `json:"kind"`
	Action   Action   `json:"action"`
	// Name is the tunable, counter, interface or module it is about.
	Name string `json:"name"`
	// File is the path on the host ("/etc/sysctl.conf"), "" when the finding
	// is about no line; Line counts from 1, and Text is the line as written.
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text,omitempty"`
	// Place is where an appliance's user finds it, in the appliance's words.
	Place string `json:"place,omitempty"`
	// Message says what is wrong, Why how that is known, Fix what to do.
	Message string `json:"message"`
	Why     string `json:"why"`
	Fix     string `json:"fix"`
	// Sets are the settings that the fix consists of, as far as it names them with
	// their values.
	Sets []Set `json:"sets,omitempty"`
	// Sources say where that was read: kernel files, manual pages, studies.
	Sources []string `json:"sources"`
}

// Set is a setting that a fix names.
type Set struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Mechanism is how it is to be set; "" for the catalogue's own way.
	Mechanism setting.Mechanism `json:"mechanism,omitempty"`
}

// sets notes a setting of the fix, unless its value is hidden.
func (f *Finding) sets(how setting.Mechanism, name, value string) {
	if !strings.Contains(name+value, redact.Mark) {
		f.Sets = append(f.Sets, Set{clean(name), clean(value), how})
	}
}

// Rule is the part of the id that names the rule.
func (f Finding) Rule() string {
	rule, _, _ := strings.Cut(f.ID, ":")
	return rule
}

// PlainID is the id without the place that makes it unique in a report.
func (f Finding) PlainID() string {
	id, _, _ := strings.Cut(f.ID, "@/")
	id, _, _ = strings.Cut(id, "#")
	return id
}

// Suppressed is a finding that a suppression hides.
type Suppressed struct {
	Finding
	Reason  string `json:"reason"`
	Expires string `json:"expires,omitempty"`
}

// Report is the audit of one host.
type Report struct {
	Version int    `json:"version"`
	OS      string `json:"os"`
	Release string `json:"release"`
	Host    string `json:"host,omitempty"`
	// Product is the appliance that the host is, with its release: "OPNsense 25.1".
	Product string `json:"product,omitempty"`
	Role    string `json:"role"`
	// RoleReasons say why that role; one entry when the caller gave it.
	RoleReasons []string `json:"role_reasons"`
	// Lines is how many lines of the host's files set something, and Quiet
	// how many of them no finding is about: they are fine as they are, as far
	// as the catalogue knows.
	Lines int `json:"lines"`
	Quiet int `json:"quiet_lines"`
	// Coverage is how much of the host's settings the audit could judge.
	Coverage Coverage  `json:"coverage"`
	Findings []Finding `json:"findings"`
	// Unlisted counts findings beyond the report's bounds, by severity: of a
	// host with thousands the worst are listed.
	Unlisted map[Severity]int `json:"unlisted,omitempty"`
	// Suppressed are findings that the suppressions hide, and Hidden how many, listed or not.
	Suppressed []Suppressed `json:"suppressed"`
	Hidden     int          `json:"suppressed_count"`
	// Stale are suppressions that expired or that hid nothing.
	Stale []StaleSuppression `json:"stale_suppressions"`
	// Unread are sources that could not be read: what the audit cannot see.
	Unread []Unread `json:"unread"`
	// Files are the files of a repository, of which each was audited by itself.
	Files []FileSummary `json:"files,omitempty"`
}

// FileSummary is what an audit found in one file of a repository, or for one machine, pod
// or container to which it gives settings.
type FileSummary struct {
	File string `json:"file"`
	// Form is what the file is: "Talos", "Ansible", "sysctl.d".
	Form string `json:"form"`
	// Node is what its settings are for: a node role, a group of hosts, a workload.
	Node string `json:"node,omitempty"`
	// Release is that of the system by which it was judged, and Pinned what in the
	// repository names it.
	Release  string `json:"release,omitempty"`
	Pinned   string `json:"pinned,omitempty"`
	Lines    int    `json:"lines"`
	Errors   int    `json:"errors"`
	Warnings int    `json:"warnings"`
	Info     int    `json:"info"`
}

// Summarise files a report under what it is of.
func (r *Report) Summarise(s FileSummary) {
	s.Lines, s.Release, s.Pinned = r.Lines, r.Release, r.Coverage.Shipped
	r.Files = []FileSummary{s}
}

// LeaveOut says that a setting could not be judged, and why: one whose value a variable
// gives.
func (r *Report) LeaveOut(name, why string) {
	r.Coverage.Set++
	r.Coverage.leave(clean(name), why)
}

// OnlyOn keeps the findings on lines that are said to matter: those that a change touches.
func (r *Report) OnlyOn(matters func(file string, line int) bool) {
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return !matters(f.File, f.Line) })
	r.Suppressed = slices.DeleteFunc(r.Suppressed, func(s Suppressed) bool { return !matters(s.File, s.Line) })
}

// Unread is a source that an audit could not use.
type Unread struct {
	Source string `json:"source"`
	Reason string `json:"reason"`
	// Config: it is a file of configuration, and what it sets, or its last lines
	// set, was not judged.
	Config bool `json:"config,omitempty"`
}

// Blind reports that files of configuration were not read, or not whole: that
// no finding is bad enough then means nothing.
func (r *Report) Blind() bool {
	return slices.ContainsFunc(r.Unread, func(u Unread) bool { return u.Config })
}

// Rename gives files the names by which somebody knows them: of a file that was
// audited by itself the one that it was given.
func (r *Report) Rename(names map[string]string) {
	var pairs []string
	for place, name := range names {
		pairs = append(pairs, place, name)
	}
	said := strings.NewReplacer(pairs...)
	r.each(func(f *Finding) {
		if name, ok := names[f.File]; ok {
			f.File = name
			f.Message, f.Why = said.Replace(f.Message), said.Replace(f.Why)
		}
	}, said.Replace)
}

// each changes every finding, and the name of every source that was not read.
func (r *Report) each(change func(*Finding), source func(string) string) {
	for i := range r.Findings {
		change(&r.Findings[i])
	}
	for i := range r.Suppressed {
		change(&r.Suppressed[i].Finding)
	}
	for i := range r.Unread {
		r.Unread[i].Source = source(r.Unread[i].Source)
	}
}

// FileOf is a file of a host among others; the host itself without one.
func FileOf(host, file string) string { return strings.TrimSuffix(host+":"+file, ":") }

// OfHost puts the host in front of every file, where a report is joined with others.
func (r *Report) OfHost(name string) {
	at := func(file string) string { return FileOf(name, file) }
	r.each(func(f *Finding) { f.File = at(f.File) }, at)
	r.Summarise(FileSummary{File: name, Form: r.OS, Node: r.Role})
}

// Count is how many findings, listed or not, are at least as bad as floor.
func (r *Report) Count(floor Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity.AtLeast(floor) {
			n++
		}
	}
	for s, more := range r.Unlisted {
		if s.AtLeast(floor) {
			n += more
		}
	}
	return n
}

// order sorts findings worst first, then by kind, place and id, and makes
// their ids unique: a second finding with the same id gets its file, and a
// third of the same file a number.
func order(findings []Finding) {
	byPlace := func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Message, b.Message))
	}
	slices.SortFunc(findings, byPlace)
	unique(findings)
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(slices.Index(severities, b.Severity), slices.Index(severities, a.Severity)),
			cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)),
			byPlace(a, b))
	})
}

func unique(findings []Finding) {
	seen, last := map[string]bool{}, map[string]int{}
	for i := range findings {
		f := &findings[i]
		id := f.ID
		if seen[id] && f.File != "" {
			id += "@" + f.File
		}
		for base := id; seen[id]; {
			last[base]++
			id = base + "#" + strconv.Itoa(last[base]+1)
		}
		seen[id] = true
		f.ID = id
	}
}

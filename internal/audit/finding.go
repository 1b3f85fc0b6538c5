// Package audit finds what is wrong, useless or missing in the tuning of a
// host: facts × catalogue × role → findings. It is pure: it reads and sets
// nothing, and gives the same findings for the same facts.
//
// There are two kinds of checks. Structural ones compare every line of the
// host's files with the catalogue's record of its name: gone, renamed, in the
// wrong file, equal to the default, out of range, set twice. Rules are data
// (catalogue/rules/*.yaml): conditions over facts, catalogue and role.
package audit

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact/redact"
	"linerate/internal/list"
	"linerate/internal/setting"
)

// Version is the version of the JSON document of a Report.
const Version = 1

// Severity is the severity of a finding.
type Severity string

// The severities. With errors a host does not do what its files say, or is harmed by them; a warning has a cost; info is
// something to remove or to know.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

var severities = []Severity{Info, Warning, Error}

// Severities returns the severities, lowest first.
func Severities() []Severity { return slices.Clone(severities) }

// AtLeast reports whether s is floor or higher.
func (s Severity) AtLeast(floor Severity) bool {
	return slices.Index(severities, s) >= slices.Index(severities, floor)
}

// Kind classifies what is wrong.
type Kind string

// The kinds of findings.
const (
	Removed       Kind = "removed"        // gone on this release
	Renamed       Kind = "renamed"        // has another name on this release
	Unknown       Kind = "unknown"        // a typo, or its module is absent
	Misplaced     Kind = "misplaced"      // set where it has no effect
	Default       Kind = "default"        // sets the default
	LowersDefault Kind = "lowers-default" // replaces a better default
	Outdated      Kind = "outdated"       // superseded by later releases
	Range         Kind = "range"          // wrong type, or out of range
	Duplicate     Kind = "duplicate"      // set more than once
	Drift         Kind = "drift"          // the file and the running value differ
	Ineffective   Kind = "ineffective"    // has no effect here
	Harmful       Kind = "harmful"        // does damage here
	Coupled       Kind = "coupled"        // contradicts another setting
	Memory        Kind = "memory"         // takes too much memory
	Order         Kind = "order"          // set too early
	Counter       Kind = "counter"        // a kernel counter shows a problem
	Folklore      Kind = "folklore"       // relies on a claim only
	Syntax        Kind = "syntax"         // the system rejects the line
)

var kinds = []Kind{Syntax, Removed, Renamed, Unknown, Misplaced, Range, Harmful, Counter, Memory, Coupled,
	LowersDefault, Order, Drift, Duplicate, Ineffective, Folklore, Outdated, Default}

// Action is what the administrator should do about the line.
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

// Finding is one result of an audit, at one place.
type Finding struct {
	// ID is the rule's id, a colon and the subject. It is stable across runs and releases for the same problem with the same
	// name, and unique in a report.
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	Kind     Kind     `json:"kind"`
	Action   Action   `json:"action"`
	// Name is the tunable, counter, interface or module concerned.
	Name string `json:"name"`
	// File is the path on the host ("/etc/sysctl.conf"), "" if the finding is not about a line; Line counts from 1, and Text is
	// the line as written.
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text,omitempty"`
	// Place is where an appliance's user finds the setting, in the appliance's terms.
	Place string `json:"place,omitempty"`
	// Message says what is wrong, Why the reason, Fix what to do.
	Message string `json:"message"`
	Why     string `json:"why"`
	Fix     string `json:"fix"`
	// Sets lists the settings that the fix specifies with their values.
	Sets []Set `json:"sets,omitempty"`
	// Sources lists references: kernel files, manual pages, studies.
	Sources []string `json:"sources"`
}

// Set is a setting specified by a fix.
type Set struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Mechanism is how to set it; "" means as the catalogue says.
	Mechanism setting.Mechanism `json:"mechanism,omitempty"`
}

// sets adds a setting to the fix, unless its value is redacted.
func (f *Finding) sets(how setting.Mechanism, name, value string) {
	if !strings.Contains(name+value, redact.Mark) {
		f.Sets = append(f.Sets, Set{clean(name), clean(value), how})
	}
}

// Rule returns the rule part of the id.
func (f Finding) Rule() string {
	rule, _, _ := strings.Cut(f.ID, ":")
	return rule
}

// PlainID returns the id without the suffix that makes it unique in a report.
func (f Finding) PlainID() string {
	id, _, _ := strings.Cut(f.ID, "@/")
	id, _, _ = strings.Cut(id, "#")
	return id
}

// Suppressed is a finding hidden by a suppression.
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
	// Product is the appliance and its release: "OPNsense 25.1".
	Product string `json:"product,omitempty"`
	Role    string `json:"role"`
	// RoleReasons says why this role was chosen; one entry if the caller gave it.
	RoleReasons []string `json:"role_reasons"`
	// Lines is the number of lines in the host's files that set something, Quiet the number of those without findings: as far as
	// the catalogue knows, they are fine.
	Lines int `json:"lines"`
	Quiet int `json:"quiet_lines"`
	// Coverage is how much of the host's settings the audit could judge.
	Coverage Coverage  `json:"coverage"`
	Findings []Finding `json:"findings"`
	// Unlisted counts findings beyond the limits of a report, by severity; the worst are listed.
	Unlisted map[Severity]int `json:"unlisted,omitempty"`
	// Suppressed lists findings hidden by suppressions, Hidden is their number including unlisted ones.
	Suppressed []Suppressed `json:"suppressed"`
	Hidden     int          `json:"suppressed_count"`
	// Stale lists suppressions that have expired or hid nothing.
	Stale []StaleSuppression `json:"stale_suppressions"`
	// Unread lists sources that could not be read, which the audit does not cover.
	Unread []Unread `json:"unread"`
	// Files lists the files of a repository, each audited by itself.
	Files []FileSummary `json:"files,omitempty"`
}

// FileSummary is the result for one file of a repository, or for one machine, pod or container for which it declares settings.
type FileSummary struct {
	File string `json:"file"`
	// Form is the format of the file: "Talos", "Ansible", "sysctl.d".
	Form string `json:"form"`
	// Node is the target of its settings: a node role, a group of hosts, a workload.
	Node string `json:"node,omitempty"`
	// Release is the system release used for the audit, Pinned the place in the repository that specifies it.
	Release  string `json:"release,omitempty"`
	Pinned   string `json:"pinned,omitempty"`
	Lines    int    `json:"lines"`
	Errors   int    `json:"errors"`
	Warnings int    `json:"warnings"`
	Info     int    `json:"info"`
}

// Summarise sets the summary of a report on one file.
func (r *Report) Summarise(s FileSummary) {
	s.Lines, s.Release, s.Pinned = r.Lines, r.Release, r.Coverage.Shipped
	r.Files = []FileSummary{s}
}

// LeaveOut adds a setting that could not be judged, with the reason, such as a value from a variable.
func (r *Report) LeaveOut(name, why string) {
	r.Coverage.Set++
	r.Coverage.leave(clean(name), why)
}

// OnlyOn keeps the findings on lines for which matters is true, such as changed ones.
func (r *Report) OnlyOn(matters func(file string, line int) bool) {
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return !matters(f.File, f.Line) })
	r.Suppressed = slices.DeleteFunc(r.Suppressed, func(s Suppressed) bool { return !matters(s.File, s.Line) })
}

// Unread is a source that the audit could not use.
type Unread struct {
	Source string `json:"source"`
	Reason string `json:"reason"`
	// Config means a configuration file: its settings, or those in its last lines, were not judged.
	Config bool `json:"config,omitempty"`
}

// Blind reports whether configuration files were not read in full: then the absence of bad findings means nothing.
func (r *Report) Blind() bool {
	return slices.ContainsFunc(r.Unread, func(u Unread) bool { return u.Config })
}

// Rename replaces file paths by the names that the user gave them, for files audited by themselves.
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

// each applies change to every finding, and source to the name of every unread source.
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

// FileOf names a file of a host among several; without a file it names the host.
func FileOf(host, file string) string { return strings.TrimSuffix(host+":"+file, ":") }

// OfHost prefixes every file with the host, for joining a report with others.
func (r *Report) OfHost(name string) {
	at := func(file string) string { return FileOf(name, file) }
	r.each(func(f *Finding) { f.File = at(f.File) }, at)
	r.Summarise(FileSummary{File: name, Form: r.OS, Node: r.Role})
}

// Count returns the number of findings, listed or not, of severity floor or higher.
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

// order sorts findings worst first, then by kind, place and id, and makes their ids unique: a second finding with the same id
// gets its file appended, a third in the same file a number.
func order(findings []Finding) {
	byPlace := func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Message, b.Message))
	}
	list.Sort(findings, byPlace)
	unique(findings)
	list.Sort(findings, func(a, b Finding) int {
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

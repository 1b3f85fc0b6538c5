package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"linerate/internal/fact"
	"linerate/internal/fact/factexpr"
	"linerate/internal/list"
	"linerate/internal/tunable"
)

// Writer is a program that writes tunables by itself, from its own files or from built-in values.
// Its conditions and values use the names of role conditions.
type Writer struct {
	Name string `yaml:"name" cbor:",omitzero"`
	OS   string `yaml:"os" cbor:",omitzero"`
	// Present is the condition under which a host has the program; "" means that a line of the host
	// must belong to it.
	Present string `yaml:"present" cbor:",omitzero"`
	// Stage, Files and Notes identify the writer's lines: the boot stage that reads them, or a
	// prefix of their file or note.
	Stage fact.Stage `yaml:"stage" cbor:",omitzero"`
	Files []string   `yaml:"files" cbor:",omitzero"`
	Notes []string   `yaml:"notes" cbor:",omitzero"`
	// Programs lists its process names, Units prefixes of its cgroups, which are systemd units. A
	// Tool is reported only if it writes itself and was not started by another writer.
	Programs []string `yaml:"programs" cbor:",omitzero"`
	Units    []string `yaml:"units" cbor:",omitzero"`
	Tool     bool     `yaml:"tool" cbor:",omitzero"`
	// Writes lists the tunables that it writes by itself.
	Writes []Own `yaml:"writes" cbor:",omitzero"`
	// Yields means that sysctl.d or sysctl.conf is applied after it.
	Yields bool `yaml:"yields" cbor:",omitzero"`
	// When says when it writes and repeats that, Fix what to do if its value is not wanted. {file}
	// stands for the file of its line.
	When    string   `yaml:"when" cbor:",omitzero"`
	Fix     string   `yaml:"fix" cbor:",omitzero"`
	Sources []string `yaml:"sources" cbor:",omitzero"`
	// Fires and Silent are hosts on which it does and does not overwrite a line.
	Fires  []Example `yaml:"fires" cbor:",omitzero"`
	Silent []Example `yaml:"silent" cbor:",omitzero"`
}

// Own describes tunables that a writer writes by itself.
type Own struct {
	// Names lists the tunables (globs); "!" excludes.
	Names []string `yaml:"names" cbor:",omitzero"`
	// Value is a text with ${}; "" if it is not one fixed value.
	Value string `yaml:"value" cbor:",omitzero"`
	When  string `yaml:"when" cbor:",omitzero"`
	// Only is ">" if it replaces only smaller values.
	Only string `yaml:"only" cbor:",omitzero"`
}

// writersLanguage is the expression language of writers.
var writersLanguage = sync.OnceValue(factexpr.NewLanguage[factexpr.Host])

// WithWriters returns the facts with the writers present on the host, and with a line for each
// value that one of them writes by itself.
func (s *RuleSet) WithWriters(f *fact.Facts) (*fact.Facts, error) {
	if f.Writers != nil {
		return f, nil
	}
	g := *f
	g.Writers, g.Settings = []string{}, slices.Clone(f.Settings)
	for i := range g.Settings {
		g.Settings[i].Lines = slices.Clip(g.Settings[i].Lines)
	}
	host, have, lines := factexpr.Of(f), f.Lines(), []fact.Line{}
	for _, w := range s.Writers {
		if w.OS != f.OS {
			continue
		}
		present, err := w.Present != "", error(nil)
		if present {
			present, err = writersLanguage().Holds(w.Present, &host)
		}
		if err != nil {
			return f, fmt.Errorf("writer %s: %w", w.Name, err)
		}
		if !present && !slices.ContainsFunc(have, w.owns) {
			continue
		}
		g.Writers = append(g.Writers, w.Name)
		own, err := w.lines(&host, len(lines))
		if err != nil {
			return f, fmt.Errorf("writer %s: %w", w.Name, err)
		}
		lines = append(lines, own...)
	}
	g.AddLines(lines)
	g.Normalise()
	return &g, nil
}

// lines returns lines for the lasting values that the writer writes by itself.
func (w *Writer) lines(host *factexpr.Host, before int) (all []fact.Line, err error) {
	for _, o := range w.Writes {
		holds, err := writersLanguage().Holds(o.When, host)
		if err != nil {
			return nil, err
		}
		if !holds || o.Value == "" || w.Yields {
			continue
		}
		value, err := writersLanguage().Fill(o.Value, host)
		if err != nil {
			return nil, err
		}
		for _, n := range o.Names {
			all = append(all, fact.Line{Name: n, Value: value, Stage: fact.Agent, Order: before + len(all) + 1, Effective: true, Default: true, Only: o.Only, Note: w.Name})
		}
	}
	return all, nil
}

// owns reports whether a line belongs to the writer.
func (w *Writer) owns(l fact.Line) bool {
	begins := func(s string) func(string) bool {
		return func(p string) bool { return strings.HasPrefix(s, p) }
	}
	if l.Stage == fact.Agent {
		return l.Note == w.Name
	}
	return w.Stage != "" && l.Stage == w.Stage || slices.ContainsFunc(w.Files, begins(l.File)) || slices.ContainsFunc(w.Notes, begins(l.Note))
}

// writes reports whether it writes a tunable by itself.
func (w *Writer) writes(name string) bool {
	return slices.ContainsFunc(w.Writes, func(o Own) bool {
		return taken(o.Names, name)
	})
}

// WriterOf returns the writer of a host's line, nil if unknown.
func (s *RuleSet) WriterOf(os string, l fact.Line) *Writer {
	w, _ := list.Find(s.Writers, func(w *Writer) bool { return w.OS == os && w.owns(l) })
	return w
}

// WritersOf returns the writers that write a tunable by themselves.
func (s *RuleSet) WritersOf(os, name string) []*Writer {
	return list.Filter(s.Writers, func(w *Writer) bool { return w.OS == os && w.writes(name) })
}

// WriterOfProcess returns the writer behind a write, from the names of the process and its
// ancestors, and of its cgroups, nearest first; nil if unknown.
func (s *RuleSet) WriterOfProcess(os string, programs, groups []string) *Writer {
	find := func(is func(w *Writer) bool) *Writer {
		w, _ := list.Find(s.Writers, func(w *Writer) bool { return w.OS == os && is(w) })
		return w
	}
	var found *Writer
	for _, p := range programs {
		found = cmp.Or(found, find(func(w *Writer) bool { return !w.Tool && slices.Contains(w.Programs, p) }))
	}
	for _, g := range groups {
		found = cmp.Or(found, find(func(w *Writer) bool {
			return slices.ContainsFunc(w.Units, func(u string) bool { return strings.HasPrefix(g, u) })
		}))
	}
	return cmp.Or(found, find(func(w *Writer) bool { return len(programs) > 0 && slices.Contains(w.Programs, programs[0]) }))
}

// Called names the writer of a line; for TuneD it includes the line's profile.
func (w *Writer) Called(l fact.Line) string {
	if _, profile, ok := strings.Cut(l.Note, "'s profile "); ok {
		return w.Name + " (profile " + profile + ")"
	}
	return w.Name
}

// Mend returns the fix for an unwanted value of a writer's line.
func (w *Writer) Mend(l fact.Line) string { return strings.ReplaceAll(w.Fix, "{file}", l.File) }

// Says describes the writer of a tunable's effective line if a line in sysctl.d would not override
// it; "" otherwise.
func (s *RuleSet) Says(os string, t fact.Tunable) string {
	l, ok := t.Stands()
	w := s.WriterOf(os, l)
	if !ok || w == nil || w.Stage == fact.Sysctl || w.Yields || l.Hidden() {
		return ""
	}
	return fmt.Sprintf("%s writes %s here: a line in sysctl.d does not stick. %s %s", w.Called(l), l.Value, w.When, w.Mend(l))
}

// writtenOver reports a line of sysctl.d whose value another program replaces, or may replace, when
// it starts.
func (a *auditor) writtenOver(rec *tunable.Record, s fact.Tunable) []candidate {
	l, ok := s.EffectiveLine(fact.Sysctl)
	win, ok2 := s.Stands()
	if ok && win == l && !l.Hidden() {
		if undone := a.undoneLines(rec, s, l); undone != nil {
			return undone
		}
	}
	if !ok || !ok2 || l.Default || l.Hidden() || win.Hidden() || s.Live != nil && rec.SameValue(l.Value, *s.Live) {
		return nil
	}
	w := a.Rules.WriterOf(a.f.OS, win)
	if win == l {
		w, _ = list.Find(a.Rules.WritersOf(a.f.OS, s.Name), func(w *Writer) bool { return !w.Yields && slices.Contains(a.f.Writers, w.Name) })
		return a.mayWriteOver(w, s, l)
	}
	if w == nil || win.Only != "" && (win.Stage != fact.Agent || less(l.Value, win.Value) >= 0) || rec.SameValue(l.Value, win.Value) {
		return nil
	}
	where := ""
	if win.File != "" {
		where = fmt.Sprintf(", by %s line %d", win.File, win.Number)
	}
	c := a.says("LR-OVERWRITTEN", "over", l, with{"writer": w.Called(win), "other": win.Value, "where": where, "when": w.When, "fix": w.Mend(win)})
	c.Sources = w.Sources
	return []candidate{c}
}

// undoneLines reports a line in a program's configuration, except packaged files, that the program
// itself overrides by applying sysctl.d again.
func (a *auditor) undoneLines(rec *tunable.Record, s fact.Tunable, win fact.Line) (all []candidate) {
	for _, l := range s.Lines {
		w := a.Rules.WriterOf(a.f.OS, l)
		if w == nil || l.Stage != fact.Conf || l.Effective || l.Only != "" || l.Hidden() || strings.HasPrefix(l.File, "/usr/") || rec.SameValue(l.Value, win.Value) {
			continue
		}
		c := a.says("LR-OVERWRITTEN", "under", l, with{"writer": w.Name, "other": win.Value, "where": fmt.Sprintf("%s line %d", win.File, win.Number), "when": w.When})
		c.Sources = w.Sources
		all = append(all, c)
	}
	return all
}

// mayWriteOver reports a line of a tunable that a program on the host also writes, with an unknown
// value.
func (a *auditor) mayWriteOver(w *Writer, s fact.Tunable, l fact.Line) []candidate {
	if _, known := s.EffectiveLine(fact.Agent); w == nil || known {
		return nil
	}
	c := a.says("LR-OVERWRITTEN", "may", l, with{"writer": w.Name, "when": w.When, "fix": w.Mend(l)})
	c.Sources = w.Sources
	return []candidate{c}
}

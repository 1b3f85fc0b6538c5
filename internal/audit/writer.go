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

// Writer is a program that writes tunables by itself: by its own files, or values that it
// has in it. Conditions and values see what the conditions of roles see.
type Writer struct {
	Name string `yaml:"name"`
	OS   string `yaml:"os"`
	// Present is the condition under which a host has it; without one, it has where a line
	// of the host's is the writer's.
	Present string `yaml:"present"`
	// Stage, Files and Notes tell which lines of a host are the writer's: the stage of boot
	// that reads them, or how their file or their note begins.
	Stage fact.Stage `yaml:"stage"`
	Files []string   `yaml:"files"`
	Notes []string   `yaml:"notes"`
	// Programs are its processes, as the kernel names them; Units how the names of its
	// cgroups begin: its units of systemd. A tool is named where it writes itself, and no
	// other writer started it.
	Programs []string `yaml:"programs"`
	Units    []string `yaml:"units"`
	Tool     bool     `yaml:"tool"`
	// Writes are the tunables that it writes by itself.
	Writes []Own `yaml:"writes"`
	// Yields: the lines of sysctl.d or sysctl.conf are applied after it.
	Yields bool `yaml:"yields"`
	// When says when it writes, and when it does so again; Fix what to do where its value is
	// not wanted. {file} stands for the file of its line.
	When    string   `yaml:"when"`
	Fix     string   `yaml:"fix"`
	Sources []string `yaml:"sources"`
	// Fires and Silent are hosts on which it overwrites a line, and on which it does not.
	Fires  []Example `yaml:"fires"`
	Silent []Example `yaml:"silent"`
}

// Own are tunables that a writer writes by itself.
type Own struct {
	// Names are tunables (globs); those with "!" before them are not.
	Names []string `yaml:"names"`
	// Value is a text with ${}; "" where it is not one value.
	Value string `yaml:"value"`
	When  string `yaml:"when"`
	// Only is > where it writes over lesser values alone.
	Only string `yaml:"only"`
}

// writersLanguage is that of the conditions and values of writers.
var writersLanguage = sync.OnceValue(factexpr.NewLanguage[factexpr.Host])

// WithWriters are the facts with the writers that the host has, and with a line for each
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

// lines are those of the values that it writes by itself and that last.
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

// owns reports a line of the writer's.
func (w *Writer) owns(l fact.Line) bool {
	begins := func(s string) func(string) bool {
		return func(p string) bool { return strings.HasPrefix(s, p) }
	}
	if l.Stage == fact.Agent {
		return l.Note == w.Name
	}
	return w.Stage != "" && l.Stage == w.Stage || slices.ContainsFunc(w.Files, begins(l.File)) || slices.ContainsFunc(w.Notes, begins(l.Note))
}

// writes reports a tunable that it writes by itself.
func (w *Writer) writes(name string) bool {
	return slices.ContainsFunc(w.Writes, func(o Own) bool {
		return taken(o.Names, name)
	})
}

// WriterOf is the writer of a host's line, nil where no record has it.
func (s *RuleSet) WriterOf(os string, l fact.Line) *Writer {
	w, _ := list.Find(s.Writers, func(w *Writer) bool { return w.OS == os && w.owns(l) })
	return w
}

// WritersOf are the writers that write a tunable by themselves.
func (s *RuleSet) WritersOf(os, name string) []*Writer {
	return list.Filter(s.Writers, func(w *Writer) bool { return w.OS == os && w.writes(name) })
}

// WriterOfProcess is the writer that wrote something, by the names of the process and of those
// that started it, and of the cgroups that it is in, each the nearest first. nil: none is known.
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

// Called is the writer as it is called where it wrote a line: TuneD with the line's profile.
func (w *Writer) Called(l fact.Line) string {
	if _, profile, ok := strings.Cut(l.Note, "'s profile "); ok {
		return w.Name + " (profile " + profile + ")"
	}
	return w.Name
}

// Mend is what to do where the value of a line of the writer's is not wanted.
func (w *Writer) Mend(l fact.Line) string { return strings.ReplaceAll(w.Fix, "{file}", l.File) }

// Says tells of the line that stands for a tunable whose it is, where a line of sysctl.d
// does not stick for it; "" elsewhere.
func (s *RuleSet) Says(os string, t fact.Tunable) string {
	l, ok := t.Stands()
	w := s.WriterOf(os, l)
	if !ok || w == nil || w.Stage == fact.Sysctl || w.Yields || l.Hidden() {
		return ""
	}
	return fmt.Sprintf("%s writes %s here: a line in sysctl.d does not stick. %s %s", w.Called(l), l.Value, w.When, w.Mend(l))
}

// writtenOver reports a line of sysctl.d whose value another program replaces as it starts,
// or may replace.
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

// undoneLines reports a line of a program's, not of its package's, over which it applies
// sysctl.d again.
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

// mayWriteOver reports a line of a tunable that a program of the host's writes too, with a
// value that is not known.
func (a *auditor) mayWriteOver(w *Writer, s fact.Tunable, l fact.Line) []candidate {
	if _, known := s.EffectiveLine(fact.Agent); w == nil || known {
		return nil
	}
	c := a.says("LR-OVERWRITTEN", "may", l, with{"writer": w.Name, "when": w.When, "fix": w.Mend(l)})
	c.Sources = w.Sources
	return []candidate{c}
}

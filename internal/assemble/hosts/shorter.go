package hosts

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"linerate/internal/audit"
	"linerate/internal/fact"
	"linerate/internal/host"
	"linerate/internal/host/filehost"
	"linerate/internal/inspect"
)

// Shorter is a file without what an audit's fixes take out of it.
type Shorter struct {
	Path     string
	Old, New string
	Cuts     []audit.Cut
}

// WriteBelow writes the file below a directory, and never outside of it, by a name that
// may be a path.
func (f Shorter) WriteBelow(dir, name string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write the shorter files: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("write the shorter files: %w", err)
	}
	defer root.Close()
	rel := filepath.Clean("/" + name)[1:]
	if err := root.MkdirAll(filepath.Dir(rel), 0o755); err != nil {
		return fmt.Errorf("write the shorter files: %w", err)
	}
	if err := root.WriteFile(rel, []byte(f.New), 0o644); err != nil {
		return fmt.Errorf("write the shorter files: %w", err)
	}
	return nil
}

// maxRounds bounds how often what is left is audited again: a line that is gone
// may have hidden that another does nothing.
const maxRounds = 5

// Shorten takes out of a host's files what the fixes of an audit say to remove,
// and audits what is left until nothing more is to be removed. A fix after which
// the audit has something new to say is not taken.
func Shorten(ctx context.Context, base host.Reader, opts inspect.Options, run func(*fact.Facts) (*audit.Report, error), first *audit.Report) ([]Shorter, error) {
	s := &shortening{ctx: ctx, base: base, opts: opts, run: run, cuts: map[string][]audit.Cut{}, texts: map[string]string{}}
	report := first
	for range maxRounds {
		offered := s.original(report.Cuts())
		if offered = slices.DeleteFunc(offered, s.taken); len(offered) == 0 {
			break
		}
		next, err := s.take(offered, report)
		if err != nil {
			return nil, err
		}
		if next == nil {
			break
		}
		report = next
	}
	var all []Shorter
	for _, p := range slices.Sorted(maps.Keys(s.cuts)) {
		if cuts := s.cuts[p]; len(cuts) > 0 {
			all = append(all, Shorter{p, s.texts[p], audit.Shorten(s.texts[p], cuts), cuts})
		}
	}
	return all, nil
}

type shortening struct {
	ctx   context.Context
	base  host.Reader
	opts  inspect.Options
	run   func(*fact.Facts) (*audit.Report, error)
	cuts  map[string][]audit.Cut // taken, by file, of its first text
	texts map[string]string      // as they were
	tried []audit.Cut            // not taken
}

func (s *shortening) taken(c audit.Cut) bool {
	same := func(o audit.Cut) bool { return o.File == c.File && o.Line == c.Line && o.Word == c.Word }
	return slices.ContainsFunc(s.cuts[c.File], same) || slices.ContainsFunc(s.tried, same)
}

// original gives cuts of the shortened files the lines of the first texts.
func (s *shortening) original(cuts []audit.Cut) []audit.Cut {
	for i, c := range cuts {
		left := 0
		for n := 1; n <= c.Line+len(s.cuts[c.File]); n++ {
			if slices.ContainsFunc(s.cuts[c.File], func(o audit.Cut) bool { return o.Line == n && o.Word == "" }) {
				continue
			}
			if left++; left == c.Line {
				cuts[i].Line = n
				break
			}
		}
	}
	return cuts
}

// take takes cuts after which nothing new is to be said: all together, or else
// those of one half after those of the other. It returns the audit of what is left,
// nil when none was taken.
func (s *shortening) take(cuts []audit.Cut, before *audit.Report) (*audit.Report, error) {
	for _, c := range cuts {
		if _, ok := s.texts[c.File]; !ok {
			text, err := s.base.ReadFile(s.ctx, c.File)
			if err != nil {
				s.tried = append(s.tried, cuts...)
				return nil, nil // of a file that cannot be read whole nothing is taken
			}
			s.texts[c.File] = string(text)
		}
	}
	kept := maps.Clone(s.cuts)
	for _, c := range cuts {
		s.cuts[c.File] = append(slices.Clone(s.cuts[c.File]), c)
	}
	after, err := s.audit()
	if err != nil {
		return nil, err
	}
	if !saysMore(before, after) {
		return after, nil
	}
	s.cuts = kept
	if len(cuts) == 1 {
		s.tried = append(s.tried, cuts...)
		return nil, nil
	}
	var last *audit.Report
	for _, half := range [][]audit.Cut{cuts[:len(cuts)/2], cuts[len(cuts)/2:]} {
		next, err := s.take(half, before)
		if err != nil {
			return nil, err
		}
		if next != nil {
			last, before = next, next
		}
	}
	return last, nil
}

// audit audits the host with what was taken out so far.
func (s *shortening) audit() (*audit.Report, error) {
	files := map[string][]byte{}
	for p, cuts := range s.cuts {
		files[p] = []byte(audit.Shorten(s.texts[p], cuts))
	}
	f, err := inspect.Host(s.ctx, filehost.Over(s.base, files), s.opts)
	if err != nil {
		return nil, err
	}
	return s.run(f)
}

// saysMore reports an audit that has an error or a warning to say which the one
// before had not.
func saysMore(before, after *audit.Report) bool {
	known := map[string]audit.Severity{}
	for _, f := range before.Findings {
		known[plainID(f.ID)] = f.Severity
	}
	return slices.ContainsFunc(after.Findings, func(f audit.Finding) bool {
		was, ok := known[plainID(f.ID)]
		return f.Severity.AtLeast(audit.Warning) && (!ok || !was.AtLeast(f.Severity))
	})
}

// plainID is a finding's id without the place that makes it unique.
func plainID(id string) string {
	id, _, _ = strings.Cut(id, "@/")
	id, _, _ = strings.Cut(id, "#")
	return id
}

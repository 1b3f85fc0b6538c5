package hosts

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"linerate/internal/declared"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/host/filehost"
	"linerate/internal/inspect"
)

// Declared is a machine, a pod or a container to which a file gives settings, with the
// facts that follow from it.
type Declared struct {
	*declared.Host
	Facts *fact.Facts
}

// Declared reads what a file declares; none where that is nothing. repo is nil for a file by
// itself.
func (s *Source) Declared(ctx context.Context, name string, text []byte, repo *Repository) ([]Declared, error) {
	opts, err := s.options()
	if err != nil {
		return nil, err
	}
	if repo == nil {
		repo = &Repository{}
	}
	var all []Declared
	for _, h := range declared.Read(name, text, &repo.vars) {
		if opts.OS = fact.Linux; h.FreeBSD {
			opts.OS = fact.FreeBSD
		}
		if s.OS != "" && s.OS != opts.OS {
			continue
		}
		f, err := declaredFacts(ctx, name, h, opts, repo.Pinned)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := s.complete(f); err != nil {
			return nil, err
		}
		all = append(all, Declared{h, f})
	}
	return all, nil
}

// declaredFacts inspects the files that a declaration gives a machine.
func declaredFacts(ctx context.Context, name string, h *declared.Host, opts inspect.Options, pinned map[string]string) (*fact.Facts, error) {
	texts := map[string][]byte{}
	if !h.FreeBSD {
		texts[declared.SysctlFile] = nil
	}
	for p, lines := range h.Files {
		var b strings.Builder
		for _, l := range lines {
			b.WriteString(l.Text + "\n")
		}
		texts[p] = []byte(b.String())
	}
	version := h.Version
	if version == "" {
		version = pinned[h.System]
	}
	switch r, err := release.Parse(version); {
	case h.System == "kernel" && err == nil && opts.Release.IsZero():
		opts.Release = r
	case version != "":
		texts["/etc/os-release"] = []byte("ID=" + h.System + "\nVERSION_ID=" + version + "\n")
	}
	f, err := inspect.Host(ctx, filehost.New(texts, opts.OS), opts)
	if err != nil {
		return nil, err
	}
	f.Container = h.Container
	place(f, name, h)
	return f, nil
}

// place puts lines where the file declares them.
func place(f *fact.Facts, name string, h *declared.Host) {
	at := func(file string, number int) (declared.Line, bool) {
		lines, ok := h.Files[file]
		if !ok || number < 1 || number > len(lines) {
			return declared.Line{}, false
		}
		return lines[number-1], true
	}
	for _, s := range f.Settings {
		for i := range s.Lines {
			if l, ok := at(s.Lines[i].File, s.Lines[i].Number); ok {
				s.Lines[i].Effective = s.Lines[i].Effective || h.Alternatives() && declared.Invented(s.Lines[i].File)
				s.Lines[i].File, s.Lines[i].Number, s.Lines[i].Place = cmp.Or(l.File, name), l.At, l.Place
				s.Lines[i].Default = s.Lines[i].Default || l.File != "" // judged where it is declared
			}
		}
	}
	for i := range f.Problems {
		if l, ok := at(f.Problems[i].File, f.Problems[i].Line); ok {
			f.Problems[i].File, f.Problems[i].Line = name, l.At
		}
	}
}

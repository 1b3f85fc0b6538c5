package space

import (
	_ "embed"
	"io/fs"
	"reflect"
	"slices"

	"linerate/internal/hint"
	"linerate/internal/study"
	"linerate/internal/yamlfile"
)

// file is a user-defined space.
type file struct {
	Version int      `yaml:"version"`
	Factors []factor `yaml:"factors"`
}

type factor struct {
	Name   string          `yaml:"name"`
	Base   []study.Setting `yaml:"base,omitempty"`
	Levels []Level         `yaml:"levels"`
	Source string          `yaml:"source,omitempty"`
	// For lists traits that a study's workload must have: "serve" and "http", "smtp" or
	// "files", "tls", "proxy"; empty means any. Instead lists the tunables that it replaces.
	For     []string `yaml:"for,omitempty,flow"`
	Instead []string `yaml:"instead,omitempty,flow"`
}

// FileType returns the type of a space file.
func FileType() reflect.Type { return reflect.TypeFor[file]() }

// Parse parses a space from YAML: factors, with the settings of each level
// written as in studies. The settings are checked when they are put into a study.
func Parse(name string, data []byte) ([]Entry, error) {
	var f file
	_, err := yamlfile.Read(name, data, yamlfile.Kind{Noun: "a space", Content: "factors", Version: 1}, &f)
	if err != nil {
		return nil, err
	}
	var out []Entry
	for i, x := range f.Factors {
		switch {
		case x.Name == "" || slices.ContainsFunc(out, func(e Entry) bool { return e.Name == x.Name }):
			return nil, hint.With(hint.Usagef("%s: factor %d has no unique name: %q", name, i+1, x.Name), "give every factor a name: that of the setting")
		case len(x.Levels) == 0:
			return nil, hint.With(hint.Usagef("%s: factor %s has no level to try", name, x.Name), "levels: [{value: \"0\", settings: [{sysctl: %s, value: 0}]}]", x.Name)
		}
		e := Entry{Name: x.Name, In: true, Why: "in " + name, Levels: x.Levels, Base: x.Base, traits: x.For, instead: x.Instead}
		for k, l := range x.Levels {
			if len(l.Settings) == 0 {
				return nil, hint.With(hint.Usagef("%s: level %d of factor %s sets nothing", name, k+1, x.Name), "settings: [{sysctl: NAME, value: …}], as in a study's variant")
			}
			if l.Value == "" {
				e.Levels[k].Value = l.Settings[0].Setting().String()
			}
			if l.Source == "" {
				e.Levels[k].Source = x.Source
			}
			e.Shared = e.Shared || slices.ContainsFunc(l.Settings, func(s study.Setting) bool { return s.Scope == study.ScopeHost })
		}
		out = append(out, e)
	}
	if len(out) == 0 {
		return nil, hint.With(hint.Usagef("%s has no factors", name), "factors: [{name: …, levels: […]}]")
	}
	return out, nil
}

// Load reads all spaces in a file system, as shipped with the catalogue.
func Load(fsys fs.FS) (all []Entry, err error) {
	names, err := fs.Glob(fsys, "*/*.yaml")
	for _, name := range names {
		data, e := fs.ReadFile(fsys, name)
		if e != nil {
			return nil, e
		}
		entries, e := Parse(name, data)
		if e != nil {
			return nil, e
		}
		all = append(all, entries...)
	}
	return all, err
}

//go:embed placebo.yaml
var placebo []byte

// Placebo returns a space of settings that nothing in the lab reads: a search that
// finds a winner in it has found a lucky one.
func Placebo() ([]Entry, error) { return Parse("the placebo space", placebo) }

// Choose applies the wanted names (all if there are none) and the unwanted ones.
func Choose(all []Entry, only, without []string) error {
	return Query{Only: only, Without: without}.choose(all)
}

package tunable

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"linerate/internal/fact/release"
)

// Read reads a catalogue: <os>/*.yaml are records, claims/*.yaml claims, concepts.yaml
// concepts, conditions.yaml their conditions in words. All mistakes are reported, each
// with file and line; expressions and values are checked by this package's tests alone.
func Read(fsys fs.FS) (*Catalogue, error) {
	files, err := listFiles(fsys)
	if err != nil {
		return nil, err
	}
	parts := make([]Catalogue, len(files))
	errs := make([]error, len(files))
	var wg sync.WaitGroup
	for i, f := range files {
		wg.Go(func() { errs[i] = f.load(&parts[i], fsys, f.name, f.os) })
	}
	wg.Wait()
	c := &Catalogue{}
	for _, p := range parts {
		c.Records = append(c.Records, p.Records...)
		c.Claims = append(c.Claims, p.Claims...)
		c.Concepts = append(c.Concepts, p.Concepts...)
		c.Conditions = append(c.Conditions, p.Conditions...)
	}
	if err := errors.Join(append(errs, c.index())...); err != nil {
		return nil, err
	}
	return c, nil
}

// file is one file of a catalogue, and who reads it.
type file struct {
	name, os string
	load     func(c *Catalogue, fsys fs.FS, name, os string) error
}

func listFiles(fsys fs.FS) ([]file, error) {
	var all []file
	for _, k := range []struct {
		pattern, os string
		load        func(c *Catalogue, fsys fs.FS, name, os string) error
	}{
		{"freebsd/*.yaml", FreeBSD, (*Catalogue).loadRecords},
		{"linux/*.yaml", Linux, (*Catalogue).loadRecords},
		{"claims/*.yaml", "", (*Catalogue).loadClaims},
		{"concepts.yaml", "", func(c *Catalogue, fsys fs.FS, name, _ string) error {
			return loadList(fsys, name, "concepts", &c.Concepts)
		}},
		{"conditions.yaml", "", func(c *Catalogue, fsys fs.FS, name, _ string) error {
			return loadList(fsys, name, "conditions", &c.Conditions)
		}},
	} {
		names, err := fs.Glob(fsys, k.pattern)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			all = append(all, file{n, k.os, k.load})
		}
	}
	return all, nil
}

// document parses one file into its top-level mapping, key → node.
func document(fsys fs.FS, name string) (map[string]ast.Node, error) {
	b, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	f, err := parser.ParseBytes(b, 0)
	if err != nil {
		return nil, yamlError(name, err)
	}
	if len(f.Docs) != 1 {
		return nil, fmt.Errorf("%s: want one YAML document, have %d", name, len(f.Docs))
	}
	top := map[string]ast.Node{}
	switch body := f.Docs[0].Body.(type) {
	case *ast.MappingNode:
		for _, v := range body.Values {
			top[v.Key.String()] = v.Value
		}
	case *ast.MappingValueNode:
		top[body.Key.String()] = body.Value
	default:
		return nil, fmt.Errorf("%s:1: want a mapping at the top", name)
	}
	return top, nil
}

// sequence is the list under a key of a document, nil without it.
func sequence(name string, top map[string]ast.Node, key string) ([]ast.Node, error) {
	n, ok := top[key]
	if !ok {
		return nil, nil
	}
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		return nil, fmt.Errorf("%s:%d: %s: want a list", name, lineOf(n), key)
	}
	return s.Values, nil
}

// onlyKeys refuses keys a document must not have.
func onlyKeys(name string, top map[string]ast.Node, known ...string) error {
	for k, n := range top {
		if !slices.Contains(known, k) {
			return fmt.Errorf("%s:%d: unknown key %q (known: %s)", name, lineOf(n), k, strings.Join(known, ", "))
		}
	}
	return nil
}

func (c *Catalogue) loadRecords(fsys fs.FS, name, os string) error {
	top, err := document(fsys, name)
	if err != nil {
		return err
	}
	if err := onlyKeys(name, top, "subsystem", "records"); err != nil {
		return err
	}
	nodes, err := sequence(name, top, "records")
	if err != nil {
		return err
	}
	subsystem := strings.TrimSuffix(path.Base(name), ".yaml")
	var errs []error
	for _, n := range nodes {
		var raw rawRecord
		if err := decode(name, n, &raw); err != nil {
			errs = append(errs, err)
			continue
		}
		r := raw.record()
		r.OS, r.Subsystem, r.File, r.Line = os, subsystem, name, lineOf(n)
		if r.Reset == "" {
			r.Reset = r.impliedReset()
		}
		c.Records = append(c.Records, r.expand()...)
	}
	return errors.Join(errs...)
}

// expand makes one record of each driver.
func (r Record) expand() []*Record {
	if len(r.Drivers) == 0 {
		return []*Record{&r}
	}
	var all []*Record
	for _, d := range r.Drivers {
		x := r
		driver, since, _ := strings.Cut(d, "@")
		if rel, err := release.Parse(since); err == nil && (x.Since.IsZero() || x.Since.Before(rel)) {
			x.Since = rel
		}
		x.Driver = driver
		fill := func(s string) string { return strings.ReplaceAll(s, "{driver}", driver) }
		x.fill(fill)
		all = append(all, &x)
	}
	return all
}

// fill replaces the driver's placeholder wherever people or look-ups read it.
func (r *Record) fill(fill func(string) string) {
	for _, s := range []*string{&r.Name, &r.RenamedTo, &r.Summary, &r.Module, &r.Effective, &r.Helps, &r.Hurts} {
		*s = fill(*s)
	}
	r.Related, r.Notes = slices.Clone(r.Related), slices.Clone(r.Notes)
	for _, list := range [][]string{r.Related, r.Notes} {
		for i := range list {
			list[i] = fill(list[i])
		}
	}
	r.Cautions, r.Coupled, r.Recommend = slices.Clone(r.Cautions), slices.Clone(r.Coupled), slices.Clone(r.Recommend)
	for i := range r.Cautions {
		r.Cautions[i].Text, r.Cautions[i].Fix = fill(r.Cautions[i].Text), fill(r.Cautions[i].Fix)
	}
	for i := range r.Coupled {
		r.Coupled[i].Name, r.Coupled[i].Why = fill(r.Coupled[i].Name), fill(r.Coupled[i].Why)
	}
	for i := range r.Recommend {
		r.Recommend[i].Reason = fill(r.Recommend[i].Reason)
	}
}

func (c *Catalogue) loadClaims(fsys fs.FS, name, _ string) error {
	top, err := document(fsys, name)
	if err != nil {
		return err
	}
	nodes, err := sequence(name, top, "claims")
	if err != nil {
		return err
	}
	delete(top, "claims")
	set := Claims{File: name}
	for key, into := range map[string]*string{
		"source": &set.Source, "os": &set.OS, "title": &set.Title, "author": &set.Author,
		"date": &set.Date, "releases": &set.Releases, "kind": &set.Kind,
	} {
		if n, ok := top[key]; ok {
			if err := decode(name, n, into); err != nil {
				return err
			}
			delete(top, key)
		}
	}
	if err := onlyKeys(name, top, "source", "os", "title", "author", "date", "releases", "kind", "claims"); err != nil {
		return err
	}
	var errs []error
	for _, n := range nodes {
		cl := Claim{Source: set.Source, Line: lineOf(n)}
		if err := decode(name, n, &cl); err != nil {
			errs = append(errs, err)
			continue
		}
		set.Claims = append(set.Claims, cl)
	}
	c.Claims = append(c.Claims, set)
	return errors.Join(errs...)
}

// loadList reads a document of one list.
func loadList[T any](fsys fs.FS, name, key string, into *[]T) error {
	top, err := document(fsys, name)
	if err != nil {
		return err
	}
	nodes, err := sequence(name, top, key)
	if err != nil {
		return err
	}
	var errs []error
	for _, n := range nodes {
		var x T
		errs = append(errs, decode(name, n, &x))
		*into = append(*into, x)
	}
	return errors.Join(errs...)
}

// decode reads a node strictly; an error names file and line.
func decode(name string, n ast.Node, into any) error {
	err := yaml.NodeToValue(n, into, yaml.Strict())
	var ye yaml.Error
	if err != nil && !errors.As(err, &ye) {
		return fmt.Errorf("%s:%d: %w", name, lineOf(n), err)
	}
	return yamlError(name, err)
}

// rel reads a release as written: as a YAML number, 6.10 were 6.1.
type rel struct{ release.Release }

func (r *rel) UnmarshalYAML(n ast.Node) (err error) {
	r.Release, err = release.Parse(n.GetToken().Value)
	return err
}

// rawRecord and rawChange are a record as the file has it.
type rawRecord struct {
	Record  `yaml:",inline"`
	Since   rel         `yaml:"since"`
	Removed rel         `yaml:"removed"`
	Changes []rawChange `yaml:"changes"`
	Checked []rawCheck  `yaml:"checked"`
}

type rawCheck struct {
	Check   `yaml:",inline"`
	Release rel `yaml:"release"`
}

type rawChange struct {
	Change `yaml:",inline"`
	From   rel `yaml:"from"`
	Until  rel `yaml:"until"`
}

// Files are the shapes of a catalogue's files, by what they hold.
func Files() map[string]reflect.Type {
	return map[string]reflect.Type{
		"records": reflect.TypeFor[struct {
			Subsystem string      `yaml:"subsystem"`
			Records   []rawRecord `yaml:"records"`
		}](),
		"claims": reflect.TypeFor[Claims](),
		"concepts": reflect.TypeFor[struct {
			Concepts []Concept `yaml:"concepts"`
		}](),
		"conditions": reflect.TypeFor[struct {
			Conditions []Condition `yaml:"conditions"`
		}](),
	}
}

func (raw rawRecord) record() Record {
	r := raw.Record
	if raw.Constraints.Clamped && r.Constraints.Outside == "" {
		r.Constraints.Outside = Clamped
	}
	r.Since, r.Removed = raw.Since.Release, raw.Removed.Release
	for _, c := range raw.Changes {
		c.Change.From, c.Change.Until = c.From.Release, c.Until.Release
		r.Changes = append(r.Changes, c.Change)
	}
	for _, c := range raw.Checked {
		c.Check.Release = c.Release.Release
		r.Checked = append(r.Checked, c.Check)
	}
	return r
}

// yamlError puts the file before the position that goccy/go-yaml reports.
func yamlError(name string, err error) error {
	if err == nil {
		return nil
	}
	var ye yaml.Error
	if errors.As(err, &ye) && ye.GetToken() != nil {
		return fmt.Errorf("%s:%d: %s", name, ye.GetToken().Position.Line, ye.GetMessage())
	}
	return fmt.Errorf("%s: %w", name, err)
}

func lineOf(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 0
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		if len(n.Values) > 0 {
			return lineOf(n.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return lineOf(n.Key)
	}
	return n.GetToken().Position.Line
}

package tunable

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"linerate/internal/fact/release"
)

// Load reads a catalogue: <os>/*.yaml are records, claims/*.yaml claims,
// concepts.yaml concepts. All mistakes are reported, each with file and line.
func Load(fsys fs.FS) (*Catalogue, error) {
	c := &Catalogue{}
	var errs []error
	for _, os := range []string{FreeBSD, Linux} {
		files, err := fs.Glob(fsys, os+"/*.yaml")
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			errs = append(errs, c.loadRecords(fsys, f, os))
		}
	}
	claims, err := fs.Glob(fsys, "claims/*.yaml")
	if err != nil {
		return nil, err
	}
	for _, f := range claims {
		errs = append(errs, c.loadClaims(fsys, f))
	}
	errs = append(errs, c.loadConcepts(fsys, "concepts.yaml"))
	errs = append(errs, c.index())
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return c, nil
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
		r := Record{OS: os, Subsystem: subsystem, File: name, Line: lineOf(n)}
		if err := decode(name, n, &r); err != nil {
			errs = append(errs, err)
			continue
		}
		for _, x := range r.expand() {
			errs = append(errs, x.check())
			c.Records = append(c.Records, x)
		}
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
		x.Name, x.RenamedTo, x.Summary, x.Module = fill(r.Name), fill(r.RenamedTo), fill(r.Summary), fill(r.Module)
		x.Related = slices.Clone(r.Related)
		for i := range x.Related {
			x.Related[i] = fill(x.Related[i])
		}
		x.Coupled = slices.Clone(r.Coupled)
		for i := range x.Coupled {
			x.Coupled[i].Name = fill(x.Coupled[i].Name)
		}
		all = append(all, &x)
	}
	return all
}

func (c *Catalogue) loadClaims(fsys fs.FS, name string) error {
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
		errs = append(errs, cl.check(name))
		set.Claims = append(set.Claims, cl)
	}
	c.Claims = append(c.Claims, set)
	return errors.Join(errs...)
}

func (c *Catalogue) loadConcepts(fsys fs.FS, name string) error {
	top, err := document(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	nodes, err := sequence(name, top, "concepts")
	if err != nil {
		return err
	}
	var errs []error
	for _, n := range nodes {
		k := Concept{}
		if err := decode(name, n, &k); err != nil {
			errs = append(errs, err)
			continue
		}
		c.Concepts = append(c.Concepts, k)
	}
	return errors.Join(errs...)
}

// decode reads a node strictly; an error names file and line.
func decode(name string, n ast.Node, into any) error {
	err := yaml.NodeToValue(n, into, yaml.Strict(), yaml.CustomUnmarshaler(readRelease))
	var ye yaml.Error
	if err != nil && !errors.As(err, &ye) {
		return fmt.Errorf("%s:%d: %w", name, lineOf(n), err)
	}
	return yamlError(name, err)
}

// readRelease reads a release as written: as a YAML number, 6.10 were 6.1.
func readRelease(r *release.Release, b []byte) error {
	return r.UnmarshalText([]byte(strings.Trim(strings.TrimSpace(string(b)), `"'`)))
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

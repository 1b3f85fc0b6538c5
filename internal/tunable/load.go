package tunable

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"linerate/internal/fact/release"
	"linerate/internal/yamlfile"
)

// RecordFile is a file of records: freebsd/*.yaml and linux/*.yaml.
type RecordFile struct {
	Subsystem string    `yaml:"subsystem"`
	Records   []*Record `yaml:"records"`
}

// ConceptFile is concepts.yaml.
type ConceptFile struct {
	Concepts []Concept `yaml:"concepts"`
}

// ConditionFile is conditions.yaml.
type ConditionFile struct {
	Conditions []Condition `yaml:"conditions"`
}

// Read reads a catalogue's files. Format errors are returned; only this package's tests validate
// the content.
func Read(fsys fs.FS) (*Catalogue, error) {
	c := &Catalogue{}
	var errs []error
	for _, os := range []string{FreeBSD, Linux} {
		files, err := yamlfile.Own[RecordFile](fsys, os+"/*.yaml")
		errs = append(errs, err)
		for _, f := range files {
			for _, r := range f.Doc.Records {
				r.OS, r.Subsystem, r.File = os, strings.TrimSuffix(path.Base(f.Name), ".yaml"), f.Name
				if r.Reset == "" {
					r.Reset = r.impliedReset()
				}
				c.Records = append(c.Records, r.expand()...)
			}
		}
	}
	claims, err := yamlfile.Own[Claims](fsys, "claims/*.yaml")
	errs = append(errs, err)
	for _, f := range claims {
		f.Doc.File = f.Name
		for i := range f.Doc.Claims {
			f.Doc.Claims[i].Source = f.Doc.Source
		}
		c.Claims = append(c.Claims, f.Doc)
	}
	concepts, err := yamlfile.Own[ConceptFile](fsys, "concepts.yaml")
	errs = append(errs, err)
	for _, f := range concepts {
		c.Concepts = f.Doc.Concepts
	}
	conditions, err := yamlfile.Own[ConditionFile](fsys, "conditions.yaml")
	errs = append(errs, err)
	for _, f := range conditions {
		c.Conditions = f.Doc.Conditions
	}
	slices.SortStableFunc(c.Records, func(a, b *Record) int {
		return cmp.Or(cmp.Compare(a.OS, b.OS), cmp.Compare(a.Name, b.Name))
	})
	c.index()
	return c, errors.Join(errs...)
}

// UnmarshalYAML decodes a record and stores its line number.
func (r *Record) UnmarshalYAML(n ast.Node) error {
	type plain Record
	if err := yaml.NodeToValue(n, (*plain)(r), yaml.Strict()); err != nil {
		return err
	}
	r.Line = lineOf(n)
	if r.Constraints.Clamped && r.Constraints.Outside == "" {
		r.Constraints.Outside = Clamped
	}
	return nil
}

// UnmarshalYAML decodes a claim and stores its line number.
func (c *Claim) UnmarshalYAML(n ast.Node) error {
	type plain Claim
	c.Line = lineOf(n)
	return yaml.NodeToValue(n, (*plain)(c), yaml.Strict())
}

// lineOf returns the line of a mapping's first key.
func lineOf(n ast.Node) int {
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		n = m.Values[0].Key
	}
	return n.GetToken().Position.Line
}

// expand returns one record per driver.
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

// fill replaces the driver's placeholder in all fields that users or lookups see.
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

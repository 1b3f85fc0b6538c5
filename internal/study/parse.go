package study

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"linerate/internal/yamlfile"
)

// Complete fills in the defaults of a study that a program made, and checks it; said tells which
// paths it has chosen. Problems name keys.
func Complete(s Spec, said func(path string) bool) (Spec, *yamlfile.Problem) {
	s.fill(said)
	if p := s.check(); p != nil {
		return Spec{}, p
	}
	s.Metrics = once(s.Metrics)
	return s, nil
}

// Parse reads a study from YAML. Errors name file:line and, where one can be
// guessed, what was meant. Defaults are filled in.
func Parse(file string, data []byte) (s Spec, err error) {
	var made map[string][]origin
	kind := yamlfile.Kind{Noun: "a study", Content: "name, question and variants", Version: SpecVersion,
		Rewrite: func(p *yamlfile.Places, root ast.Node) { made = expand(p, root) }}
	places, err := yamlfile.Read(file, data, kind, &s)
	if err != nil {
		return Spec{}, err
	}
	s.place(made)
	s, p := Complete(s, places.Has)
	if p != nil {
		return Spec{}, places.Error(p.Path, p.What, p.Advice)
	}
	return s, nil
}

// once leaves one goal of each metric and part, the primary one if it is
// among them: a sweep of goals also names what was named for itself.
func once(goals []Goal) (out []Goal) {
	for _, g := range goals {
		i := slices.IndexFunc(out, func(o Goal) bool { return o.Metric == g.Metric && o.Part == g.Part })
		switch {
		case i < 0:
			out = append(out, g)
		case g.Primary:
			out[i] = g
		}
	}
	return out
}

// Format writes a study as YAML that Parse reads back to the same study, all
// defaults explicit.
func Format(s Spec) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b, yaml.Indent(2), yaml.IndentSequence(true), yaml.UseLiteralStyleIfMultiline(true))
	if err := enc.Encode(s); err != nil {
		return nil, fmt.Errorf("write study %s as YAML: %w", s.Name, err)
	}
	return b.Bytes(), enc.Close()
}

package study

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"linerate/internal/yamlfile"
)

// Parse reads a study from YAML. Errors name file:line and, where one can be
// guessed, what was meant. Defaults are filled in.
func Parse(file string, data []byte) (Spec, error) {
	s, places, p, err := parse(file, data)
	if p != nil {
		return Spec{}, places.Error(p.path, p.what, p.hint)
	}
	return s, err
}

// Made parses generated YAML: errors name keys, not lines, because the user never saw the
// text.
func Made(data []byte) (Spec, *Problem, error) {
	s, _, p, err := parse("study", data)
	return s, p, err
}

func parse(file string, data []byte) (s Spec, places *yamlfile.Places, wrong *Problem, err error) {
	var made map[string][]origin
	kind := yamlfile.Kind{Noun: "a study", Content: "name, question and variants", Version: SpecVersion,
		Rewrite: func(p *yamlfile.Places, root ast.Node) { made = expand(p, root) }}
	if places, err = yamlfile.Read(file, data, kind, &s); err != nil {
		return Spec{}, nil, nil, err
	}
	s.place(made)
	s.fill(places.Has)
	if p := s.check(); p != nil {
		return Spec{}, places, p, nil
	}
	s.Metrics = once(s.Metrics)
	return s, places, nil, nil
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

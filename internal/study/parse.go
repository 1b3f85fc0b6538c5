package study

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"linerate/internal/list"
	"linerate/internal/testbed"
	"linerate/internal/yamlfile"
)

// Complete fills in the defaults of a study that a program built, and checks it; said reports
// whether the program set a path. Problems name keys.
func Complete(s Spec, said func(path string) bool) (Spec, *yamlfile.Problem) {
	s.fill(said)
	if p := s.check(); p != nil {
		return Spec{}, p
	}
	s.Metrics = once(s.Metrics)
	return s, nil
}

// Parse reads a study from YAML and fills in its defaults. Errors name
// file:line and, where it can be guessed, what was meant.
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

// once keeps one goal for each metric and part, preferring a primary one: a
// sweep of goals may repeat a goal that was also given explicitly.
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

// Format writes a study as YAML, with all defaults explicit; Parse reads the
// same study back.
func Format(s Spec) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b, yaml.Indent(2), yaml.IndentSequence(true), yaml.UseLiteralStyleIfMultiline(true))
	if err := enc.Encode(s); err != nil {
		return nil, fmt.Errorf("write study %s as YAML: %w", s.Name, err)
	}
	return b.Bytes(), enc.Close()
}

// Defaults of a study.
const (
	defaultBlocks  = 6
	defaultSeconds = 1.0
	defaultWarmup  = 0.15
	defaultRetries = 2
	defaultMargin  = 3.0
	// defaultMarginPoints is the default margin of shares.
	defaultMarginPoints = 1.0
)

// fill sets defaults; said reports whether the file states a path, so that an
// explicit zero is kept.
func (s *Spec) fill(said func(path string) bool) {
	s.Version = SpecVersion
	s.fillTestbed()
	OrString(&s.Workload.Family, "ipv4")
	OrString(&s.Workload.Order, "round-robin")
	Unless(said, "workload.flows", &s.Workload.Flows, 1000)
	if s.Control == "" && len(s.Variants) > 0 {
		s.Control = s.Variants[0].Name
	}
	Unless(said, "blocks", &s.Blocks, defaultBlocks)
	Unless(said, "retries", &s.Retries, defaultRetries)
	s.fillModes()
	s.fillKinds(said)
	s.fillParts(said)
	s.fillMetrics(said)
	gates, defaults := &s.Gates, DefaultGates()
	fillFrom(said, "gates.", &gates, &defaults)
}

func (s *Spec) fillParts(said func(string) bool) {
	for i := range s.Parts {
		p, path := &s.Parts[i], PartPath(i)+"."
		OrString(&p.Name, string(p.Mode))
		OrString((*string)(&p.Rate), string(MaxRate))
		Unless(said, path+"blocks", &p.Blocks, s.Blocks)
		Unless(said, path+"seconds", &p.Seconds, defaultSeconds)
		Unless(said, path+"warmup", &p.Warmup, defaultWarmup)
		s.fillOwn(i, said)
	}
}

// fillModes gives every part a mode, and a study without parts one part, by the
// study's kind.
func (s *Spec) fillModes() {
	if len(s.Parts) == 0 {
		s.Parts = []Part{{}}
	}
	mode := s.defaultMode()
	for i := range s.Parts {
		OrString((*string)(&s.Parts[i].Mode), string(mode))
	}
}

// PartPath returns the path of a study's part in its file.
func PartPath(place int) string { return fmt.Sprintf("parts[%d]", place) }

func (s *Spec) fillMetrics(said func(string) bool) {
	if len(s.Metrics) == 0 {
		s.Metrics = defaultGoals(s.Parts)
	}
	for i := range s.Metrics {
		g := &s.Metrics[i]
		if g.Part == "" {
			g.Part = s.partFor(g.Metric)
		}
		path := fmt.Sprintf("metrics[%d].margin_", i)
		m, _ := MetricNamed(g.Metric)
		switch {
		case said(path+"percent") || said(path+"points"):
		case m.Share:
			g.MarginPoints = defaultMarginPoints
		default:
			g.MarginPercent = defaultMargin
		}
	}
}

// partFor returns the first part that measures a metric.
func (s *Spec) partFor(metric string) string {
	m, ok := MetricNamed(metric)
	p, _ := list.Find(s.Parts, func(p Part) bool { return ok && p.yields(m) })
	return p.Name
}

// defaultGoals asks for a verdict on every metric of every part; the first
// metric of the first part is primary.
func defaultGoals(parts []Part) []Goal {
	var goals []Goal
	for _, p := range parts {
		for _, m := range Metrics() {
			if p.yields(m) && m.Verdict {
				goals = append(goals, Goal{Metric: m.Name, Part: p.Name})
			}
		}
	}
	if len(goals) > 0 {
		goals[0].Primary = true
	}
	return goals
}

// Unless sets a key that the file does not state.
func Unless[T any](said func(string) bool, key string, value *T, to T) {
	if !said(key) {
		*value = to
	}
}

// OrString replaces an empty text.
func OrString(s *string, fallback string) {
	if *s == "" {
		*s = fallback
	}
}

// fillTestbed fills in the defaults of the testbed's kind.
func (s *Spec) fillTestbed() {
	OrString(&s.Testbed.Kind, testbed.KindNetns)
	design, reset := Blocks, ResetSettings
	switch {
	case s.OnLiveHost():
		design = Switchback
	case !s.OnMachines():
		reset = ResetNamespace
	}
	OrString(&s.Design, design)
	OrString(&s.Reset, reset)
}

// fillFrom copies the keys that a path does not state from another struct; from may be nil.
func fillFrom[T any](said func(path string) bool, path string, to **T, from *T) {
	if from == nil {
		return
	}
	if *to == nil {
		*to = new(T)
	}
	t, f := reflect.ValueOf(*to).Elem(), reflect.ValueOf(from).Elem()
	for i := range t.NumField() {
		if !said(path + yamlKey(t.Type().Field(i))) {
			t.Field(i).Set(f.Field(i))
		}
	}
}

// yamlKey returns the key of a field in a study's file.
func yamlKey(f reflect.StructField) string {
	key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return key
}

package study

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"linerate/internal/hint"
)

// maxSpecBytes bounds a study file: no honest one is longer, and a hostile
// one must not cost more than reading it.
const maxSpecBytes = 1 << 20

// Parse reads a study from YAML. Errors name file:line and, where one can be
// guessed, what was meant. Defaults are filled in.
func Parse(file string, data []byte) (Spec, error) {
	if len(data) > maxSpecBytes {
		return Spec{}, hint.Usagef("%s: a study of %d bytes is too long (limit %d)", file, len(data), maxSpecBytes)
	}
	root, err := parser.ParseBytes(data, 0)
	if err != nil {
		return Spec{}, hint.Usage(syntaxError(file, err))
	}
	if len(root.Docs) != 1 || root.Docs[0].Body == nil {
		return Spec{}, hint.Usagef("%s: a study is one YAML document with name, question and variants", file)
	}
	if err := checkVersion(file, root.Docs[0].Body); err != nil {
		return Spec{}, err
	}
	w := &walker{file: file, lines: map[string]int{}}
	w.walk(root.Docs[0].Body, reflect.TypeFor[Spec](), "")
	if w.err != nil {
		return Spec{}, w.err
	}
	var s Spec
	if err := yaml.NodeToValue(root.Docs[0].Body, &s, yaml.Strict()); err != nil {
		return Spec{}, hint.Usage(syntaxError(file, err))
	}
	s.fill(func(path string) bool { _, ok := w.lines[path]; return ok })
	if p := s.check(); p != nil {
		return Spec{}, w.at(p)
	}
	return s, nil
}

// checkVersion refuses a study of another format before its keys are judged,
// which may mean something else there.
func checkVersion(file string, body ast.Node) error {
	var head struct {
		Version *int `yaml:"version"`
	}
	if err := yaml.NodeToValue(body, &head); err != nil || head.Version == nil {
		return nil // of this version, or no study: its keys tell
	}
	switch v := *head.Version; {
	case v > SpecVersion:
		return hint.With(hint.Usagef("%s: the study is of version %d; this linerate reads up to version %d", file, v, SpecVersion),
			"it was written for a newer linerate: read it with that one")
	case v < 1:
		return hint.Usagef("%s: version %d of a study never was", file, v)
	}
	return nil
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

// UnmarshalYAML reads a ruleset written out as text, or the recipe of a
// generated one.
func (r *Ruleset) UnmarshalYAML(unmarshal func(any) error) error {
	if unmarshal(&r.Text) == nil {
		return nil
	}
	type recipe Ruleset
	return unmarshal((*recipe)(r))
}

// syntaxError turns the YAML package's error into one line with its place.
func syntaxError(file string, err error) error {
	var y yaml.Error
	if errors.As(err, &y) && y.GetToken() != nil && y.GetToken().Position != nil {
		return fmt.Errorf("%s:%d: %s", file, y.GetToken().Position.Line, y.GetMessage())
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return fmt.Errorf("%s: %s", file, first)
}

// walker compares a YAML tree with the types it is to fill, so that an
// unknown key is refused with its line and the keys its place knows, and
// remembers the line of every path for the checks that come later.
type walker struct {
	file  string
	lines map[string]int
	err   error
}

func (w *walker) walk(n ast.Node, t reflect.Type, path string) {
	if w.err != nil || n == nil {
		return
	}
	line := n.GetToken().Position.Line
	if _, known := w.lines[path]; !known {
		w.lines[path] = line
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch node := n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		w.fail(line, "", "anchors, aliases and tags have no place in a study: write it out")
	case *ast.MappingNode:
		w.mapping(node.Values, line, t, path)
	case *ast.MappingValueNode:
		w.mapping([]*ast.MappingValueNode{node}, line, t, path)
	case *ast.SequenceNode:
		if t.Kind() != reflect.Slice {
			w.fail(line, "", "%s is not a list", orRoot(path))
			return
		}
		for i, v := range node.Values {
			w.walk(v, t.Elem(), fmt.Sprintf("%s[%d]", path, i))
		}
	default:
		if t.Kind() == reflect.Slice || t.Kind() == reflect.Struct && t != reflect.TypeFor[Ruleset]() {
			w.fail(line, "", "%s needs a %s", orRoot(path), map[bool]string{true: "list", false: "mapping of keys"}[t.Kind() == reflect.Slice])
		}
	}
}

func (w *walker) mapping(values []*ast.MappingValueNode, line int, t reflect.Type, path string) {
	if t.Kind() != reflect.Struct {
		w.fail(line, "", "%s takes no keys", orRoot(path))
		return
	}
	fields := keysOf(t)
	for _, v := range values {
		key := v.Key.GetToken().Value
		at := v.Key.GetToken().Position.Line
		field, ok := fields[key]
		if !ok {
			w.unknown(at, key, fields, path)
			return
		}
		child := key
		if path != "" {
			child = path + "." + key
		}
		w.lines[child] = at
		w.walk(v.Value, field, child)
	}
}

func (w *walker) unknown(line int, key string, fields map[string]reflect.Type, path string) {
	known := make([]string, 0, len(fields))
	for k := range fields {
		known = append(known, k)
	}
	advice := hint.Of(hint.Unknown("key", key, sorted(known)))
	if advice == "" {
		advice = "known: " + strings.Join(sorted(known), ", ")
	}
	where := ""
	if path != "" {
		where = " in " + path
	}
	w.fail(line, advice, "unknown key %q%s", key, where)
}

func (w *walker) fail(line int, advice, format string, args ...any) {
	if w.err != nil {
		return
	}
	w.err = hint.Usagef("%s:%d: %s", w.file, line, fmt.Sprintf(format, args...))
	if advice != "" {
		w.err = hint.With(w.err, "%s", advice)
	}
}

// at places a problem: at the line of its path, or of the nearest parent.
func (w *walker) at(p *problem) error {
	path := p.path
	for {
		if line, ok := w.lines[path]; ok {
			w.fail(line, p.hint, "%s", p.what)
			return w.err
		}
		i := strings.LastIndexAny(path, ".[")
		if i < 0 {
			w.fail(1, p.hint, "%s", p.what)
			return w.err
		}
		path = path[:i]
	}
}

// keysOf maps the YAML keys of a struct to the types of their values.
func keysOf(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		if name, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); name != "" && name != "-" {
			out[name] = f.Type
		}
	}
	return out
}

func orRoot(path string) string {
	if path == "" {
		return "the study"
	}
	return path
}

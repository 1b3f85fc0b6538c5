// Package yamlfile reads hand-written, possibly malicious YAML files: of limited
// size, one document, no anchors; an unknown key is an error with its line and the
// key that was meant.
package yamlfile

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"linerate/internal/hint"
)

// maxBytes is the maximum size of a file: no genuine one is larger, and a malicious one must not
// cost more than reading it.
const maxBytes = 1 << 18

// Kind describes a kind of file, for messages.
type Kind struct {
	Noun    string // with its article: "a study"
	Content string // its main keys: "name, question and variants"
	Version int    // of the format, the newest that is supported
	Most    int    // maximum size in bytes; 0 means maxBytes
	// Rewrite, if not nil, may change the tree after its keys have been checked and before it is
	// decoded; then they are checked again.
	Rewrite func(p *Places, root ast.Node)
}

// Places maps paths ("parts[0].rate") to the lines of a file's keys.
type Places struct {
	file  string
	kind  Kind
	lines map[string]int
	final bool // values are final, not to be replaced by Rewrite
	err   error
}

// Read decodes a file into v, a pointer to a struct with yaml tags. Errors are usage errors, with
// file:line.
func Read(file string, data []byte, kind Kind, v any) (*Places, error) {
	if err := CheckShape(file, kind, data); err != nil {
		return nil, err
	}
	root, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, syntaxError(file, err)
	}
	switch n := len(root.Docs); {
	case n == 0 || root.Docs[0].Body == nil:
		return nil, hint.With(hint.Usagef("%s: the file is empty: %s is one YAML document with %s", file, kind.Noun, kind.Content), "begin with a line, %s: …", firstWord(kind.Content))
	case n > 1:
		return nil, hint.With(hint.Usagef("%s: %d YAML documents: %s is one, with %s", file, n, kind.Noun, kind.Content), "put each into a separate file, and remove the lines of three dashes")
	}
	if err := checkVersion(file, kind, root.Docs[0].Body); err != nil {
		return nil, err
	}
	p := &Places{file: file, kind: kind, lines: map[string]int{}, final: kind.Rewrite == nil}
	p.walk(root.Docs[0].Body, reflect.TypeOf(v), "")
	if kind.Rewrite != nil && p.err == nil {
		kind.Rewrite(p, root.Docs[0].Body)
		p.lines, p.final = map[string]int{}, true // of the rewritten tree
		p.walk(root.Docs[0].Body, reflect.TypeOf(v), "")
	}
	if p.err != nil {
		return nil, p.err
	}
	if err := yaml.NodeToValue(root.Docs[0].Body, v, yaml.Strict()); err != nil {
		return nil, syntaxError(file, err)
	}
	return p, nil
}

// Has reports whether the file has a key.
func (p *Places) Has(path string) bool { _, ok := p.lines[path]; return ok }

// Error returns an error at the line of a path, or of the nearest parent; advice may be "".
func (p *Places) Error(path, what, advice string) error {
	for {
		line, known := p.lines[path]
		i := strings.LastIndexAny(path, ".[")
		if known || i < 0 {
			p.Refuse(max(line, 1), advice, "%s", what)
			return p.err
		}
		path = path[:i]
	}
}

// Failed reports whether there already is an error.
func (p *Places) Failed() bool { return p.err != nil }

// checkVersion rejects a file of another format before its keys are checked, which may have other
// meanings there.
func checkVersion(file string, kind Kind, body ast.Node) error {
	version, found := versionOf(body)
	if !found {
		return nil // the same version, or another kind of file: its keys decide
	}
	_, noun, _ := strings.Cut(kind.Noun, " ")
	switch {
	case version > kind.Version:
		return hint.With(hint.Usagef("%s: the %s is of version %d; this linerate reads up to version %d", file, noun, version, kind.Version),
			"it was written for a newer linerate: read it with that one")
	case version < 1:
		return hint.Usagef("%s: version %d of %s does not exist", file, version, kind.Noun)
	}
	return nil
}

// versionOf finds the format's version in the syntax tree, because decoding would follow aliases,
// which are rejected only later.
func versionOf(body ast.Node) (int, bool) {
	top, ok := body.(ast.MapNode)
	if !ok {
		return 0, false
	}
	for it := top.MapRange(); it.Next(); {
		if it.Key().GetToken().Value != "version" {
			continue
		}
		v, err := strconv.Atoi(it.Value().GetToken().Value)
		return v, err == nil
	}
	return 0, false
}

// walk compares a YAML tree with the Go types to decode into, so that an unknown key is reported
// with its line and the known keys, and records the line of every path for later checks.
func (p *Places) walk(n ast.Node, t reflect.Type, path string) {
	if p.err != nil || n == nil {
		return
	}
	line := n.GetToken().Position.Line
	if _, known := p.lines[path]; !known {
		p.lines[path] = line
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch node := n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		p.Refuse(line, "write it out, without & * and !", "anchors, aliases and tags have no place in %s", p.kind.Noun)
	case *ast.MappingNode:
		p.mapping(node.Values, line, t, path)
	case *ast.MappingValueNode:
		p.mapping([]*ast.MappingValueNode{node}, line, t, path)
	case *ast.SequenceNode:
		if t.Kind() != reflect.Slice {
			advice := "write one value, without [ ] and dashes"
			if t.Kind() == reflect.Struct || t.Kind() == reflect.Map {
				advice = p.keysAdvice(path)
			}
			p.Refuse(line, advice, "%s is not a list", p.orRoot(path))
			return
		}
		for i, v := range node.Values {
			p.walk(v, t.Elem(), fmt.Sprintf("%s[%d]", path, i))
		}
	case *ast.FloatNode:
		if t.Kind() == reflect.Int { // the decoder would truncate it
			p.Refuse(line, "", "%s: %s is not a whole number", p.orRoot(path), node.GetToken().Value)
			return
		}
		p.scalar(node, t, path)
	default:
		p.scalar(n, t, path)
	}
}

// scalar rejects a plain value where a list, keys or another kind of value is needed; types with
// their own decoder may accept one.
func (p *Places) scalar(n ast.Node, t reflect.Type, path string) {
	line, value := n.GetToken().Position.Line, n.GetToken().Value
	_, own := reflect.New(t).Interface().(yaml.InterfaceUnmarshaler)
	_, err := strconv.ParseFloat(value, 64) // 1e+06 is a number, but a string to YAML
	text := err != nil && (n.Type() == ast.StringType || n.Type() == ast.LiteralType)
	switch {
	case own:
	case t.Kind() == reflect.Slice:
		entries := strings.FieldsFunc(value, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
		p.Refuse(line, fmt.Sprintf("write %s: [%s]", path[strings.LastIndex(path, ".")+1:], strings.Join(entries, ", ")), "%s needs a list", p.orRoot(path))
	case t.Kind() == reflect.Struct || t.Kind() == reflect.Map:
		p.Refuse(line, p.keysAdvice(path), "%s needs a mapping of keys", p.orRoot(path))
	case !p.final:
	case t.Kind() == reflect.Bool && n.Type() != ast.BoolType && n.Type() != ast.NullType:
		p.Refuse(line, "write true or false", "%s: %q is neither true nor false", p.orRoot(path), value)
	case (t.Kind() == reflect.Int || t.Kind() == reflect.Float64) && (text || n.Type() == ast.BoolType):
		p.Refuse(line, "write a number, without quotes", "%s: %q is not a number", p.orRoot(path), value)
	}
}

// keysAdvice says how to write keys below a key, or in the file.
func (p *Places) keysAdvice(path string) string {
	if path == "" {
		return fmt.Sprintf("begin with a line, %s: …", firstWord(p.kind.Content))
	}
	return "write its keys as KEY: VALUE, each on a separate indented line"
}

func firstWord(text string) string {
	first, _, _ := strings.Cut(text, " ")
	return strings.Trim(first, ",")
}

func (p *Places) mapping(values []*ast.MappingValueNode, line int, t reflect.Type, path string) {
	if t.Kind() != reflect.Struct && t.Kind() != reflect.Map {
		advice := "write one value"
		if t.Kind() == reflect.Slice {
			advice = "it is a list: begin each of its entries with a dash"
		}
		p.Refuse(line, advice, "%s takes no keys", p.orRoot(path))
		return
	}
	fields := keysOf(t)
	for _, v := range values {
		key := v.Key.GetToken().Value
		switch v.Key.(type) {
		case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode, *ast.MergeKeyNode:
			p.walk(&ast.AliasNode{Start: v.Key.GetToken()}, t, path)
			return
		}
		at := v.Key.GetToken().Position.Line
		field, ok := fields[key]
		if t.Kind() == reflect.Map {
			field, ok = t.Elem(), true
		}
		if !ok {
			p.unknown(at, key, fields, path)
			return
		}
		child := key
		if path != "" {
			child = path + "." + key
		}
		p.lines[child] = at
		p.walk(v.Value, field, child)
	}
}

func (p *Places) unknown(line int, key string, fields map[string]reflect.Type, path string) {
	known := slices.Sorted(maps.Keys(fields))
	advice := cmp.Or(hint.Of(hint.Unknown("key", key, known)), "known: "+strings.Join(known, ", "))
	where := ""
	if path != "" {
		where = " in " + path
	}
	p.Refuse(line, advice, "unknown key %q%s", key, where)
}

// Refuse records the first error, at a line; advice may be "".
func (p *Places) Refuse(line int, advice, format string, args ...any) {
	if p.err != nil {
		return
	}
	p.err = hint.Usagef("%s:%d: %s", p.file, line, fmt.Sprintf(format, args...))
	if advice != "" {
		p.err = hint.With(p.err, "%s", advice)
	}
}

// keysOf maps the YAML keys of a struct to the types of their values.
func keysOf(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	if t.Kind() != reflect.Struct {
		return out
	}
	for i := range t.NumField() {
		f := t.Field(i)
		switch name, options, _ := strings.Cut(f.Tag.Get("yaml"), ","); {
		case options == "inline":
			maps.Copy(out, keysOf(f.Type))
		case name != "" && name != "-":
			out[name] = f.Type
		}
	}
	return out
}

func (p *Places) orRoot(path string) string {
	if path == "" {
		_, noun, _ := strings.Cut(p.kind.Noun, " ")
		return "the " + noun
	}
	return path
}

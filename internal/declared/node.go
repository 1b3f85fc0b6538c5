package declared

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"linerate/internal/lazy"
	"linerate/internal/yamlfile"
)

// node is a YAML value with its line. An alias is the node that it refers to.
type node struct {
	line   int
	text   string // of a scalar
	lined  bool   // a literal block: its lines follow the node's
	keys   []entry
	items  []*node
	scalar bool
}

// entry is a key of a mapping.
type entry struct {
	key  string
	line int
	*node
}

// move adds to the line numbers of a node and all nodes below it.
func (n *node) move(by int, moved map[*node]bool) {
	if moved[n] {
		return
	}
	moved[n] = true
	n.line += by
	for i := range n.keys {
		n.keys[i].line += by
		n.keys[i].move(by, moved)
	}
	for _, item := range n.items {
		item.move(by, moved)
	}
}

// get returns the value of a path of keys, an empty node if there is none.
func (n *node) get(keys ...string) *node {
	for _, k := range keys {
		found := &node{}
		for _, e := range n.keys {
			if e.key == k {
				found = e.node
			}
		}
		n = found
	}
	return n
}

// first returns the value of the first key that has one.
func (n *node) first(keys ...string) *node {
	for _, k := range keys {
		if v := n.get(k); v.line > 0 {
			return v
		}
	}
	return &node{}
}

// joined merges a list of mappings, as in Salt's arguments; without a name of its own it gets that
// of the enclosing key.
func (n *node) joined(name string) *node {
	out := &node{line: n.line}
	for _, item := range n.items {
		out.keys = append(out.keys, item.keys...)
	}
	if out.get("name").line == 0 {
		out.keys = append(out.keys, entry{"name", n.line, &node{line: n.line, text: name, scalar: true}})
	}
	return out
}

// maxNodes is the maximum number of nodes of a document.
const maxNodes = 200_000

// documents parses YAML or JSON. It parses a template without its directives, with each expression
// replaced by a word.
func documents(text string) []*node {
	text = strings.ReplaceAll(text, "\t", " ") // the parser drops tabs in plain values
	if docs, ok := parse(text); ok {
		return docs
	}
	if !strings.Contains(text, "{{") && !strings.Contains(text, "{%") {
		return nil
	}
	docs, _ := parse(withoutTemplates(text))
	return docs
}

func parse(text string) (docs []*node, ok bool) {
	if yamlfile.CheckShape("", yamlfile.Kind{Most: MaxFile}, []byte(text)) != nil {
		return nil, false
	}
	file, err := parser.ParseBytes([]byte(text), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, false
	}
	for _, d := range file.Docs {
		if d.Body != nil {
			m := maker{anchors: map[string]*node{}}
			docs = append(docs, m.node(d.Body, 0))
		}
	}
	return docs, true
}

// maker converts a syntax tree into nodes.
type maker struct {
	anchors map[string]*node
	made    int
}

// maxLevels is the maximum nesting depth that is followed.
const maxLevels = 100

func (m *maker) node(n ast.Node, depth int) *node {
	out := &node{line: 1}
	if n == nil || depth > maxLevels || m.made > maxNodes {
		return out
	}
	m.made++
	if t := n.GetToken(); t != nil && t.Position != nil {
		out.line = t.Position.Line
	}
	switch v := n.(type) {
	case *ast.AnchorNode:
		out = m.node(v.Value, depth+1)
		m.anchors[v.Name.GetToken().Value] = out
	case *ast.AliasNode:
		if to := m.anchors[v.Value.GetToken().Value]; to != nil {
			return to
		}
	case *ast.TagNode:
		return m.node(v.Value, depth+1)
	case *ast.MappingNode:
		for _, e := range v.Values {
			out.keys = append(out.keys, m.entry(e, depth))
		}
	case *ast.MappingValueNode:
		out.keys = []entry{m.entry(v, depth)}
	case *ast.SequenceNode:
		for _, e := range v.Values {
			out.items = append(out.items, m.node(e, depth+1))
		}
	case *ast.LiteralNode:
		out.text, out.scalar = v.Value.Value, true
		out.lined = v.Start != nil && strings.HasPrefix(v.Start.Value, "|")
	case *ast.StringNode:
		out.text, out.scalar = v.Value, true
	case *ast.NullNode:
	case ast.ScalarNode:
		out.text, out.scalar = n.GetToken().Value, true
	}
	return out
}

func (m *maker) entry(v *ast.MappingValueNode, depth int) entry {
	e := entry{node: m.node(v.Value, depth+1), line: 1}
	if v.Key == nil || v.Key.GetToken() == nil {
		return e
	}
	e.key = v.Key.GetToken().Value
	if p := v.Key.GetToken().Position; p != nil {
		e.line = p.Line
	}
	return e
}

// templated is the word that replaces a template expression.
const templated = "TEMPLATED"

// withoutTemplates blanks the directives of Go templates and Jinja, line by line, and replaces each
// expression in a value by a word.
func withoutTemplates(text string) string {
	var out strings.Builder
	open := ""
	for raw := range strings.Lines(text) {
		s := strings.TrimSpace(raw)
		switch begin := s[:min(2, len(s))]; {
		case open != "":
			if strings.Contains(s, open) {
				open = ""
			}
		case directives[begin] != "":
			if !strings.Contains(s, directives[begin]) {
				open = directives[begin]
			}
		default:
			out.WriteString(expressions().ReplaceAllStringFunc(strings.TrimRight(raw, "\r\n"), func(e string) string {
				if strings.HasPrefix(e, "{{") {
					return templated
				}
				return ""
			}))
		}
		out.WriteByte('\n')
	}
	return out.String()
}

var (
	directives  = map[string]string{"{{": "}}", "{%": "%}", "{#": "#}"}
	expressions = lazy.Regexp(`\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}`)
)

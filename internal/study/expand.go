package study

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"linerate/internal/list"
	"linerate/internal/yamlfile"
)

// spread names the lists whose entries a sweep multiplies.
var spread = []string{"variants", "parts", "metrics"}

// origin says where an entry that a sweep produced came from.
type origin struct {
	at       Point
	template string // the name before substitution
}

// expand replaces every entry of the spread lists that mentions swept
// parameters by one entry for each combination of their values. It returns the
// origin of each entry of each list.
func expand(p *yamlfile.Places, body ast.Node) map[string][]origin {
	root, ok := body.(*ast.MappingNode)
	if !ok {
		return nil
	}
	sweeps := sweepsOf(p, root)
	if p.Failed() {
		return nil
	}
	made := map[string][]origin{}
	for _, v := range root.Values {
		key := v.Key.GetToken().Value
		list, isList := v.Value.(*ast.SequenceNode)
		if !isList || !slices.Contains(spread, key) {
			continue
		}
		made[key] = multiply(p, list, sweeps)
	}
	return made
}

// sweepsOf reads and checks the sweeps before everything else.
func sweepsOf(p *yamlfile.Places, root *ast.MappingNode) []Sweep {
	var s Spec
	for _, v := range root.Values {
		if v.Key.GetToken().Value != "sweep" {
			continue
		}
		if err := yaml.NodeToValue(v.Value, &s.Sweep, yaml.Strict()); err != nil {
			p.Refuse(v.GetToken().Position.Line, "write numbers", "sweep: %v", firstLine(err))
			return nil
		}
	}
	if bad := s.checkSweeps(); bad != nil {
		_ = p.Error(bad.Path, bad.What, bad.Advice)
		return nil
	}
	return s.Sweep
}

// multiply replaces the entries of a list that mention sweeps by their combinations.
func multiply(p *yamlfile.Places, list *ast.SequenceNode, sweeps []Sweep) (from []origin) {
	var values []ast.Node
	for _, entry := range list.Values {
		for _, at := range combinations(mentioned(entry, sweeps)) {
			if len(values) >= maxVariants {
				p.Refuse(entry.GetToken().Position.Line, "leave out values", "the sweeps make more than %d of these", maxVariants)
				return from
			}
			made := entry
			o := origin{}
			if len(at) > 0 {
				made = substitute(entry, at)
				o = origin{at, nameOf(entry)}
			}
			unswept(p, made)
			values, from = append(values, made), append(from, o)
		}
	}
	list.Values = values
	return from
}

// unswept refuses a scalar that consists of a parameter which nothing sweeps.
func unswept(p *yamlfile.Places, n ast.Node) {
	ast.Walk(visit(func(n ast.Node) {
		if s, ok := n.(*ast.StringNode); ok && s.Token.Type == token.StringType && reference().FindString(s.Value) == s.Value && s.Value != "" {
			p.Refuse(s.Token.Position.Line, "add a sweep with parameter: "+referred(s.Value), "nothing sweeps %s", s.Value)
		}
	}), n)
}

// mentioned returns the sweeps whose parameters a tree refers to.
func mentioned(n ast.Node, sweeps []Sweep) (out []Sweep) {
	names := map[string]bool{}
	ast.Walk(visit(func(n ast.Node) {
		if s, ok := n.(*ast.StringNode); ok {
			for _, ref := range reference().FindAllString(s.Value, -1) {
				names[referred(ref)] = true
			}
		}
	}), n)
	return list.Filter(sweeps, func(w Sweep) bool { return names[w.Parameter] })
}

// referred returns the parameter of a reference, $name or ${name}.
func referred(ref string) string { return strings.Trim(ref, "${}") }

// visit calls itself for every node of a tree.
type visit func(ast.Node)

func (v visit) Visit(n ast.Node) ast.Visitor { v(n); return v }

// combinations returns all points of the sweeps; the last parameter varies
// fastest. Without sweeps it returns one nil point.
func combinations(sweeps []Sweep) []Point {
	points := []Point{nil}
	for _, w := range sweeps {
		var next []Point
		for _, p := range points {
			for _, v := range w.Values {
				at := Point{w.Parameter: v}
				for k, x := range p {
					at[k] = x
				}
				next = append(next, at)
			}
		}
		if points = next; len(points) > maxVariants {
			return points[:maxVariants+1] // too many: the caller refuses them
		}
	}
	return points
}

// nameOf returns the value of an entry's key name.
func nameOf(n ast.Node) string {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		return ""
	}
	for _, v := range m.Values {
		if v.Key.GetToken().Value == "name" {
			return v.Value.GetToken().Value
		}
	}
	return ""
}

// substitute copies a tree, replacing parameters by values. A scalar that consists of a
// parameter becomes a number. Positions in the file are preserved.
func substitute(n ast.Node, at Point) ast.Node {
	switch node := n.(type) {
	case *ast.MappingNode:
		made := *node
		made.Values = make([]*ast.MappingValueNode, len(node.Values))
		for i, v := range node.Values {
			made.Values[i] = substitute(v, at).(*ast.MappingValueNode)
		}
		return &made
	case *ast.MappingValueNode:
		made := *node
		made.Value = substitute(node.Value, at)
		return &made
	case *ast.SequenceNode:
		made := *node
		made.Values = make([]ast.Node, len(node.Values))
		for i, v := range node.Values {
			made.Values[i] = substitute(v, at)
		}
		return &made
	case *ast.LiteralNode:
		made := *node
		if text, ok := substitute(node.Value, at).(*ast.StringNode); ok {
			made.Value = text
		}
		return &made
	case *ast.StringNode:
		return replace(node, at)
	}
	return n
}

// replace substitutes values in one scalar.
func replace(n *ast.StringNode, at Point) ast.Node {
	if v, ok := at[referred(n.Value)]; ok && reference().FindString(n.Value) == n.Value && n.Token.Type == token.StringType {
		if f, err := parser.ParseBytes([]byte(number(v)), 0); err == nil && len(f.Docs) == 1 {
			made := f.Docs[0].Body
			made.GetToken().Position = n.Token.Position
			return made
		}
	}
	text := reference().ReplaceAllStringFunc(n.Value, func(ref string) string {
		if v, ok := at[referred(ref)]; ok {
			return number(v)
		}
		return ref
	})
	if text == n.Value {
		return n
	}
	made, tok := *n, *n.Token
	tok.Value = text
	made.Value, made.Token = text, &tok
	return &made
}

// place records the sweep point of each entry, unless the entry states one.
func (s *Spec) place(made map[string][]origin) {
	for i, o := range made["variants"] {
		if v := &s.Variants[i]; len(o.at) > 0 && v.At == nil {
			v.At = o.at
			OrString(&v.Curve, curveOf(o.template))
		}
	}
	for i, o := range made["parts"] {
		if p := &s.Parts[i]; len(o.at) > 0 && p.At == nil {
			p.At = o.at
		}
	}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

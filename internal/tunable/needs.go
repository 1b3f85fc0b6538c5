package tunable

import (
	"github.com/expr-lang/expr/ast"
)

// measured are the variables of Env whose zero means "not known": a formula
// over them says nothing about a host that did not tell them.
var measured = map[string]bool{
	"cpus": true, "cores": true, "threads_per_core": true, "domains": true, "memory": true, "real_memory": true,
	"pages": true, "kmem": true, "link": true, "arch": true,
}

// needs lists the variables that an expression reads, and the tunables whose
// values it asks for by name.
type needs struct{ names, tunables []string }

// Visit collects identifiers; it implements ast.Visitor.
func (n *needs) Visit(node *ast.Node) {
	switch x := (*node).(type) {
	case *ast.IdentifierNode:
		n.names = append(n.names, x.Value)
	case *ast.CallNode:
		id, ok := x.Callee.(*ast.IdentifierNode)
		if ok && (id.Value == "value" || id.Value == "text") && len(x.Arguments) == 1 {
			if name, ok := x.Arguments[0].(*ast.StringNode); ok {
				n.tunables = append(n.tunables, name.Value)
			}
		}
	}
}

// Needs lists the variables of Env that an expression reads.
func Needs(code string) []string { return read(code).names }

func read(code string) needs {
	var n needs
	p, err := Compile(code)
	if err != nil {
		return n
	}
	root := p.Node()
	ast.Walk(&root, &n)
	return n
}

// Unknown reports whether an expression reads something of the host that is
// not known, so that its result would say nothing.
func (e Env) Unknown(code string) bool { return code != "" && e.unknown(code) }

// unknown reports whether an expression reads something of the host that is
// not known: a measure of it, or a tunable whose own value hangs on one.
func (e Env) unknown(code string) bool {
	n := read(code)
	for _, name := range n.names {
		if measured[name] && (e[name] == 0 || e[name] == "") {
			return true
		}
	}
	known, ok := e["known"].(func(string) bool)
	for _, name := range n.tunables {
		if ok && !known(name) {
			return true
		}
	}
	return false
}

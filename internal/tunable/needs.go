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

// needs lists the variables that an expression reads.
type needs struct{ names []string }

// Visit collects identifiers; it implements ast.Visitor.
func (n *needs) Visit(node *ast.Node) {
	if id, ok := (*node).(*ast.IdentifierNode); ok {
		n.names = append(n.names, id.Value)
	}
}

// Needs lists the variables of Env that an expression reads.
func Needs(code string) []string {
	p, err := Compile(code)
	if err != nil {
		return nil
	}
	var n needs
	root := p.Node()
	ast.Walk(&root, &n)
	return n.names
}

// unknown reports whether an expression reads something of the host that is
// not known.
func (e Env) unknown(code string) bool {
	for _, name := range Needs(code) {
		if measured[name] && (e[name] == 0 || e[name] == "") {
			return true
		}
	}
	return false
}

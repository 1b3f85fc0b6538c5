package factexpr

import (
	"reflect"
	"slices"
	"sync"

	"github.com/expr-lang/expr/ast"
)

// Questions are the parts of an expression that read only what moves on a host by
// itself, such as counters and the time since boot: fields of E, or of the structs its
// fields lead to, with the tag `moves:"yes"`. While everything else on the host and the
// answers to the questions are the same, so is the expression's value. ok is false of an
// expression that cannot be taken apart so, or does not compile.
func (l *Language[E]) Questions(code string) (questions []string, ok bool) {
	if known, have := l.asked.Load(code); have {
		q := known.(*questionsOf)
		return q.list, q.ok
	}
	q := &questionsOf{ok: code == ""}
	if p, err := l.Compile(code); code != "" && err == nil {
		q.ok = true
		q.take(fieldsOf(reflect.TypeFor[E]()), p.Node())
		for _, part := range q.list {
			if _, err := l.Compile(part); err != nil {
				q.ok = false
			}
		}
	}
	if !q.ok {
		q.list = nil
	}
	l.asked.Store(code, q)
	return q.list, q.ok
}

// TextQuestions are those of the expressions in a text.
func (l *Language[E]) TextQuestions(text string) (questions []string, ok bool) {
	ok = true
	err := parts(text, func(_, code string, isCode bool) error {
		if isCode {
			q, fine := l.Questions(code)
			questions, ok = append(questions, q...), ok && fine
		}
		return nil
	})
	return questions, ok && err == nil
}

type questionsOf struct {
	list []string
	ok   bool
}

// take takes an expression apart.
func (q *questionsOf) take(f *fields, node ast.Node) {
	r := reading{fields: f}
	ast.Walk(&node, &r)
	switch {
	case !r.moves:
	case !r.stays && !r.bound:
		if part := node.String(); !slices.Contains(q.list, part) {
			q.list = append(q.list, part)
		}
	default:
		parts, known := f.partsOf(node)
		q.ok = q.ok && known
		for _, part := range parts {
			q.take(f, part)
		}
	}
}

// partsOf are the operands of a node; known is false of one whose operands mean
// something only inside it.
func (f *fields) partsOf(node ast.Node) (parts []ast.Node, known bool) {
	switch n := node.(type) {
	case *ast.UnaryNode:
		return []ast.Node{n.Node}, true
	case *ast.BinaryNode:
		return []ast.Node{n.Left, n.Right}, true
	case *ast.ConditionalNode:
		return []ast.Node{n.Cond, n.Exp1, n.Exp2}, true
	case *ast.CallNode: // what a moving function answers hangs on its arguments too
		callee, ok := n.Callee.(*ast.IdentifierNode)
		return n.Arguments, ok && !f.moving[callee.Value]
	case *ast.ArrayNode:
		return n.Nodes, true
	case *ast.BuiltinNode:
		for _, a := range n.Arguments {
			if _, closure := a.(*ast.PredicateNode); closure {
				return nil, false
			}
		}
		return n.Arguments, true
	}
	return nil, false
}

// reading is what an expression reads: what moves, what stays, and what has a meaning
// only inside a closure.
type reading struct {
	fields              *fields
	moves, stays, bound bool
}

func (r *reading) Visit(node *ast.Node) {
	switch x := (*node).(type) {
	case *ast.IdentifierNode:
		switch {
		case r.fields.moving[x.Value]:
			r.moves = true
		case r.fields.structs[x.Value]: // its member decides
		case r.fields.names[x.Value]:
			r.stays = true
		}
	case *ast.MemberNode:
		name, ok := x.Property.(*ast.StringNode)
		of, field := x.Node.(*ast.IdentifierNode)
		switch {
		case ok && field && r.fields.moving[of.Value+"."+name.Value], ok && !field && r.fields.members[name.Value]:
			r.moves = true
		default:
			r.stays = true
		}
	case *ast.PredicateNode, *ast.PointerNode, *ast.VariableDeclaratorNode:
		r.bound = true
	}
}

// fields are the names of an environment: all, those that are structs, those that move
// ("uptime", "nic.busiest_rate"), and how members that move are called.
type fields struct{ names, structs, moving, members map[string]bool }

var fieldsByType sync.Map // reflect.Type → *fields

func fieldsOf(t reflect.Type) *fields {
	if f, ok := fieldsByType.Load(t); ok {
		return f.(*fields)
	}
	f := &fields{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	f.add(t, "")
	fieldsByType.Store(t, f)
	return f
}

func (f *fields) add(t reflect.Type, within string) {
	for field := range t.Fields() {
		name, has := field.Tag.Lookup("expr")
		if field.Anonymous && !has {
			f.add(field.Type, within)
			continue
		}
		moves := field.Tag.Get("moves") != ""
		if within == "" {
			f.names[name] = true
		} else if moves {
			f.members[name] = true
		}
		if moves {
			f.moving[within+name] = true
		}
		of := field.Type
		if of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() == reflect.Pointer && of.Elem().Kind() == reflect.Struct && within == "" {
			if field.Type.Kind() == reflect.Pointer {
				f.structs[name] = true
			}
			f.add(of.Elem(), name+".")
		}
	}
}

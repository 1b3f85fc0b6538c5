// Package factexpr is the language in which the catalogue, the audit's rules and the roles
// speak of a host: expr-lang expressions whose names are the fields of a Go struct. Host
// has what is known of the host's facts alone; packages tunable and audit embed it in
// structs that add names, so that a name means the same everywhere.
package factexpr

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/optimizer"
	"github.com/expr-lang/expr/vm"

	"linerate/internal/calc"
)

// Language compiles and runs expressions whose names are those of E's fields
// (tag `expr`), embedded structs' included, and the functions of package calc.
// What was compiled is kept: expressions are few and used for every host. E's
// exported methods would be names too: it should have none.
type Language[E any] struct {
	programs sync.Map // string → *vm.Program
	// config is shared by all compilations, one at a time: expr.Compile makes
	// it anew, and most of its time goes there.
	mu     sync.Mutex
	config *conf.Config
}

// NewLanguage makes the language of E.
func NewLanguage[E any]() *Language[E] {
	c := conf.New(new(E))
	for _, set := range calc.Options() {
		set(c)
	}
	return &Language[E]{config: c}
}

// Compile checks an expression: its names, and the types of what they mean.
func (l *Language[E]) Compile(code string) (*vm.Program, error) {
	if p, ok := l.programs.Load(code); ok {
		return p.(*vm.Program), nil
	}
	p, err := l.compile(code)
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", code, err)
	}
	l.programs.Store(code, p)
	return p, nil
}

// compile does what expr.Compile does, with a configuration that is there.
func (l *Language[E]) compile(code string) (*vm.Program, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	tree, err := checker.ParseCheck(code, l.config)
	if err != nil {
		return nil, err
	}
	if err := optimizer.Optimize(&tree.Node, l.config); err != nil {
		return nil, err
	}
	return compiler.Compile(tree, l.config)
}

// CheckCondition checks an expression that must be true or false; "" is one.
func (l *Language[E]) CheckCondition(code string) error {
	if code == "" {
		return nil
	}
	p, err := l.Compile(code)
	if err != nil {
		return err
	}
	root := p.Node()
	if t := root.Type(); t != nil && t.Kind() != reflect.Bool {
		return fmt.Errorf("expression %q: want true or false, have a %s", code, t)
	}
	return nil
}

// Value runs an expression.
func (l *Language[E]) Value(code string, names *E) (any, error) {
	p, err := l.Compile(code)
	if err != nil {
		return nil, err
	}
	v, err := expr.Run(p, names)
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", code, err)
	}
	return v, nil
}

// Holds runs a condition; "" always holds.
func (l *Language[E]) Holds(code string, names *E) (bool, error) {
	if code == "" {
		return true, nil
	}
	v, err := l.Value(code, names)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("expression %q: want true or false, have %v", code, v)
	}
	return b, nil
}

// Fill replaces every ${expression} of a text by its value, written for
// people.
func (l *Language[E]) Fill(text string, names *E) (string, error) {
	return Fill(text, func(code string) (string, error) {
		v, err := l.Value(code, names)
		return Show(v), err
	})
}

// Fill replaces every ${…} of a text by what value makes of it.
func Fill(text string, value func(string) (string, error)) (string, error) {
	var b strings.Builder
	err := parts(text, func(plain, code string, isCode bool) error {
		b.WriteString(plain)
		if !isCode {
			return nil
		}
		v, err := value(code)
		b.WriteString(v)
		return err
	})
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(b.String()), nil
}

// CheckText compiles every ${expression} of a text.
func (l *Language[E]) CheckText(text string) error {
	return parts(text, func(_, code string, isCode bool) error {
		if !isCode {
			return nil
		}
		_, err := l.Compile(code)
		return err
	})
}

// parts visits the pieces of a text: what stands before an expression, with
// it, and what stands after the last.
func parts(text string, visit func(plain, code string, isCode bool) error) error {
	for rest := text; ; {
		plain, after, found := strings.Cut(rest, "${")
		if !found {
			return visit(plain, "", false)
		}
		code, next, closed := strings.Cut(after, "}")
		if !closed {
			return fmt.Errorf("text %q: ${ without }", text)
		}
		if err := visit(plain, code, true); err != nil {
			return err
		}
		rest = next
	}
}

// Reads lists what an expression reads: names, and the arguments of calls of functions
// by name, "" where one is computed. Both are nil for one that does not compile.
func (l *Language[E]) Reads(code string) (names []string, calls []Call) {
	p, err := l.Compile(code)
	if err != nil {
		return nil, nil
	}
	var r reader
	root := p.Node()
	ast.Walk(&root, &r)
	return r.names, r.calls
}

// Call is a call of a function with one text as its argument.
type Call struct{ Function, Argument string }

type reader struct {
	names []string
	calls []Call
}

// Visit collects identifiers and calls; it implements ast.Visitor.
func (r *reader) Visit(node *ast.Node) {
	switch x := (*node).(type) {
	case *ast.IdentifierNode:
		r.names = append(r.names, x.Value)
	case *ast.CallNode:
		id, ok := x.Callee.(*ast.IdentifierNode)
		if !ok || len(x.Arguments) != 1 {
			return
		}
		switch arg := x.Arguments[0].(type) {
		case *ast.StringNode:
			r.calls = append(r.calls, Call{id.Value, arg.Value})
		case *ast.BinaryNode: // a text put together
			r.calls = append(r.calls, Call{id.Value, ""})
		}
	}
}

// Show writes the value of an expression for people: whole numbers without a
// fraction, others to four digits, lists with commas.
func Show(v any) string {
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return strconv.FormatInt(int64(v), 10)
		}
		return strconv.FormatFloat(v, 'g', 4, 64)
	case []string:
		return strings.Join(v, ", ")
	case []any:
		texts := make([]string, len(v))
		for i, x := range v {
			texts[i] = Show(x)
		}
		return strings.Join(texts, ", ")
	}
	return fmt.Sprint(v)
}

// Number is any number of an expression as a float, 0 of anything else.
func Number(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	}
	return 0
}

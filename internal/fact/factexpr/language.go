// Package factexpr is the expression language in which the catalogue, the audit's rules and
// the roles describe a host: expr-lang expressions whose names are the fields of a Go struct.
// Host has the names that depend on facts alone; packages tunable and audit embed it in
// structs with more names, so that a name has the same meaning everywhere.
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

// Language compiles and evaluates expressions. Their names are those of E's fields (tag `expr`),
// including embedded structs, and the functions of package calc. Compiled expressions are cached:
// there are few, used for every host. E should have no exported methods, which would be names too.
type Language[E any] struct {
	programs sync.Map // string → *vm.Program
	// config is shared by all compilations, one at a time: expr.Compile creates a new one, which
	// takes most of its time.
	mu     sync.Mutex
	config *conf.Config
}

// NewLanguage returns the language of E.
func NewLanguage[E any]() *Language[E] {
	c := conf.New(new(E))
	for _, set := range calc.Options() {
		set(c)
	}
	return &Language[E]{config: c}
}

// Compile compiles an expression, checking names and types.
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

// compile is like expr.Compile, but with an existing configuration.
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

// CheckCondition returns an error if an expression is not a boolean; "" is valid.
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

// Value evaluates an expression.
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

// Holds evaluates a condition; "" is true.
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

// Fill replaces every ${expression} in a text by its formatted value.
func (l *Language[E]) Fill(text string, names *E) (string, error) {
	return Fill(text, func(code string) (string, error) {
		v, err := l.Value(code, names)
		return Show(v), err
	})
}

// Fill replaces every ${…} in a text by the result of value.
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

// CheckText compiles every ${expression} in a text.
func (l *Language[E]) CheckText(text string) error {
	return parts(text, func(_, code string, isCode bool) error {
		if !isCode {
			return nil
		}
		_, err := l.Compile(code)
		return err
	})
}

// parts visits the pieces of a text: each expression with the text before it, and the text after
// the last one.
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

// Reads returns what an expression reads: names, and calls of functions with a name as argument, ""
// if that is computed. Both are nil if it does not compile.
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

// Call is a call of a function with one string argument.
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
		case *ast.BinaryNode: // a computed string
			r.calls = append(r.calls, Call{id.Value, ""})
		}
	}
}

// Show formats the value of an expression: integers without a fraction, other numbers with four
// digits, lists with commas.
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

// Number converts any numeric value of an expression to a float; others give 0.
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

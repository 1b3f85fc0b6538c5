package linerate

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"linerate/internal/stats"
)

// TestVerdictsAreNamedOnce: package stats defines the verdicts and their order. Elsewhere they are its
// constants, never literals that are compared, switched on or listed.
func TestVerdictsAreNamedOnce(t *testing.T) {
	words := stats.VerdictNames()
	isVerdict := func(e ast.Expr) bool {
		lit, ok := e.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return false
		}
		s, err := strconv.Unquote(lit.Value)
		return err == nil && slices.Contains(words, s)
	}
	eachFile(t, func(file, dir string, f *ast.File) {
		if dir == "internal/stats" {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			var at []ast.Expr
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if n.Op == token.EQL || n.Op == token.NEQ {
					at = []ast.Expr{n.X, n.Y}
				}
			case *ast.CaseClause:
				at = n.List
			case *ast.CompositeLit:
				at = n.Elts
			}
			if slices.ContainsFunc(at, isVerdict) {
				t.Errorf("%s: a verdict as a literal; use the constants and the order of package stats", file)
			}
			return true
		})
	})
}

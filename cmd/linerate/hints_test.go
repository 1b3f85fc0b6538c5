package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// repositoryFile matches the path of a file that users of the installed binary do not have.
var repositoryFile = regexp.MustCompile(`\b(docs|internal|catalogue|studies)/[a-z]|README|ARCHITECTURE\.md`)

// TestHintsNameNoFilesOfTheRepository: hints refer to help topics, since users may have only the binary.
func TestHintsNameNoFilesOfTheRepository(t *testing.T) {
	hints := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); !(ok && x.Name == "hint") && sel.Sel.Name != "Advise" {
				return true
			}
			hints++
			for _, a := range call.Args {
				if text, ok := a.(*ast.BasicLit); ok && repositoryFile.MatchString(text.Value) {
					t.Errorf("%s: a hint names a file of the repository: %s", set.Position(text.Pos()), text.Value)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if hints < 500 {
		t.Errorf("only %d hints were looked at", hints)
	}
}

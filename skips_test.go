package linerate

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mayskip are the test files that may skip by themselves, with the reason; all others use labtest, which does
// not skip where LINERATE_LAB=required.
var mayskip = map[string]string{
	"internal/labtest/labtest.go":                   "the others use it",
	"internal/labtest/session_linux.go":             "kernels that do not share time by sessions have no priority to set",
	"internal/labtest/vmimage_linux.go":             "boots machines, only when asked to",
	"internal/sharedtest/sharedtest.go":             "real captures are no part of the project",
	"cmd/linerate/yourmachines_test.go":             "reboots machines, only when asked to",
	"internal/apply/systemd_linux_test.go":          "boots a systemd, only when asked to",
	"bench/fault/one_linux_test.go":                 "looks at one fault, only when asked to",
	"cmd/linerate/ahost_linux_test.go":              "half an hour, on demand",
	"internal/apply/freebsd_test.go":                "FreeBSD's commands are stood in for by Linux's",
	"internal/capture/script_test.go":               "another system's commands are faked by Linux's",
	"internal/inspect/linux_test.go":                "a system that linerate does not know",
	"internal/host/localhost/localhost_test.go":     "asks Linux's commands",
	"internal/testbed/netnsbed/paths_linux_test.go": "a kernel may lack a kind of link; ip(8) must agree",
	"internal/ledger/ledger_test.go":                "asks who root is under sudo",
}

// TestSkips: a test that can run must not skip.
func TestSkips(t *testing.T) {
	unused := map[string]bool{}
	for file := range mayskip {
		unused[file] = true
	}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(p, "_test.go") && !strings.HasPrefix(p, "internal/labtest/") && !strings.HasPrefix(p, "internal/sharedtest/") || !strings.HasSuffix(p, ".go") {
			return nil
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, p, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, at := range skips(f) {
			if mayskip[p] == "" {
				t.Errorf("%s skips: use labtest.Lacking, or add it to mayskip with the reason", files.Position(at))
			}
			delete(unused, p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for file := range unused {
		t.Errorf("%s does not skip any more: remove it from mayskip", file)
	}
}

// skips returns the places at which a file skips a test or a benchmark.
func skips(f *ast.File) (at []token.Pos) {
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || !slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, sel.Sel.Name) {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && (x.Name == "t" || x.Name == "b" || x.Name == "tb") {
			at = append(at, sel.Pos())
		}
		return true
	})
	return at
}

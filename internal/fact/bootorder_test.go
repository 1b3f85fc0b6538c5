package fact

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

// TestBootOrderIsWhole: bootOrder contains every stage once.
func TestBootOrderIsWhole(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "setting.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := 0
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := v.Type.(*ast.Ident); !ok || id.Name != "Stage" {
			return true
		}
		text, _ := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
		declared++
		if Stage(text).order() < 0 {
			t.Errorf("%s is missing from bootOrder", text)
		}
		return true
	})
	if order := bootOrder; declared != len(order) {
		t.Errorf("%d stages, %d in the order %v", declared, len(order), order)
	}
}

// TestBootOrder: which stage is applied after which, and so whose value is effective.
func TestBootOrder(t *testing.T) {
	for _, c := range []struct{ early, late Stage }{
		{Hints, Loader}, {Loader, RCConf}, {Loader, Sysctl}, {RCConf, Sysctl},
		{CommandLine, Modprobe}, {CommandLine, Sysctl}, {Modprobe, Udev}, {Modprobe, Sysctl}, {Udev, Sysctl}, {Sysctl, Networkd}, {Sysctl, Conf},
	} {
		line := func(m Stage, file string) Line {
			return Line{Name: "n", Value: string(m), File: file, Stage: m, Effective: true}
		}
		if c.early == RCConf || c.late == RCConf { // a separate namespace
			if c.early.order() >= c.late.order() {
				t.Errorf("%s is not before %s", c.early, c.late)
			}
			continue
		}
		f := &Facts{}
		f.AddLines([]Line{line(c.late, "b"), line(c.early, "a")})
		f.Normalise()
		if v, _ := f.Value("n"); v != string(c.late) {
			t.Errorf("%s and %s: the effective value is that of %s", c.early, c.late, v)
		}
		lines := f.Lines()
		if got := []Stage{lines[0].Stage, lines[1].Stage}; !slices.Equal(got, []Stage{c.early, c.late}) {
			t.Errorf("lines in the order %v, want %s before %s", got, c.early, c.late)
		}
	}
}

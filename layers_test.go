package linerate

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The layers of ARCHITECTURE.md. Every package must be in one, or the test fails.
var (
	// values are pure: data in, data out. Time and seeds are arguments.
	values = []string{
		"internal/hint", "internal/list", "internal/lazy", "internal/yamlfile", "internal/pack", "internal/show", "internal/setting", "internal/port", "internal/export", "internal/site", "internal/load", "internal/testbed",
		"internal/stats", "internal/calc", "internal/fact", "internal/tunable",
		"internal/role", "internal/audit", "internal/judge", "internal/fleet", "internal/plan", "internal/evidence", "internal/study", "internal/tune", "internal/search", "internal/chart", "internal/document", "internal/report", "internal/compare", "internal/profile",
		"internal/drop", "internal/appliance", "internal/declared", "internal/queue",
		"catalogue", "studies", "schemas", "docs",
	}
	// edges touch machines: kernels, networks, files, clocks.
	edges = []string{"internal/load/wire", "internal/load/client", "internal/cputime", "internal/knob", "internal/apply", "internal/inspect", "internal/capture", "internal/lab", "internal/live", "internal/server", "internal/studydir", "internal/host", "internal/labtest", "internal/sharedtest", "internal/testbed/bedtest",
		"internal/instrument", "internal/sockops", "internal/responsive", "internal/rollout",
		"internal/cli", "internal/wait", "internal/worker", "internal/web",
	}
	// stores keep measurements, or read those of others.
	stores = []string{"internal/ledger", "internal/store", "internal/accesslog", "imports"}
	// assemblies combine implementations as the user asked.
	assemblies = []string{"internal/assemble"}
	// implementations of an interface never import each other, and only assemblies and cmd import them.
	implementations = map[string][]string{
		"internal/load":    {"internal/load/xdpload", "internal/load/packetload", "internal/load/httpload", "internal/load/fileload", "internal/load/smtpload", "internal/load/remoteload"},
		"internal/testbed": {"internal/testbed/netnsbed", "internal/testbed/jailbed", "internal/testbed/sshbed"},
		"internal/host":    {"internal/host/localhost", "internal/host/sshhost", "internal/host/filehost"},
		"internal/store":   {"internal/store/sqlite", "internal/store/postgres"},
	}
	// forbidden pairs, each with its reason.
	forbidden = []struct{ from, to, why string }{
		{"internal/lab", "internal/ledger", "a lab emits trials to a sink; it must run without a ledger"},
		{"internal/ledger", "internal/lab", "the ledger keeps what studies made and cannot make it"},
		{"internal/lab", "internal/inspect", "what the machine is comes with the facts that cmd hands to the record; a lab only watches it"},
		{"internal/inspect", "internal/knob", "inspecting a host must not be able to change it"},
		{"internal/web", "internal/knob", "the page only reads: what it imports cannot set anything"},
		{"internal/web", "internal/apply", "the page only reads: what it imports cannot change a host"},
		{"internal/web", "internal/host", "the page only reads: what it imports cannot reach a host"},
		{"internal/web", "internal/live", "the page only reads: what it imports cannot try a setting on a host"},
		{"internal/web", "internal/lab", "the page only reads: what it imports cannot run a study"},
		{"internal/web", "internal/studydir", "the page only reads: what it imports cannot write a record"},
		{"internal/audit", "internal/knob", "an audit is data about facts; it sets nothing"},
	}
	// impure are packages of the standard library that values must not import.
	impure = []string{"os", "os/exec", "os/signal", "syscall", "net/http", "database/sql", "crypto/rand", "plugin"}
	// impureCalls are impure functions of otherwise pure packages.
	impureCalls = map[string][]string{
		"time":         {"Now", "Since", "Until", "Sleep", "After", "Tick", "NewTimer", "NewTicker", "AfterFunc"},
		"net":          {"Dial", "Listen", "InterfaceByName", "Interfaces", "LookupHost", "ListenPacket"},
		"math/rand/v2": {"Int", "IntN", "Float64", "Perm", "Shuffle", "NormFloat64", "Uint64"},
	}
)

// TestLayers checks the import rules of ARCHITECTURE.md.
func TestLayers(t *testing.T) {
	eachFile(t, func(file, dir string, f *ast.File) {
		if dir == "." || strings.HasPrefix(dir, "cmd/") || strings.HasPrefix(dir, "bench/") {
			return
		}
		layer := layerOf(dir)
		if layer == "" {
			t.Errorf("%s: package %s is in no layer; add it to layers_test.go and ARCHITECTURE.md", file, dir)
			return
		}
		for _, imp := range f.Imports {
			p, _ := strconv.Unquote(imp.Path.Value)
			checkImport(t, file, dir, layer, p)
		}
		if layer == "value" {
			checkCalls(t, file, f)
		}
	})
}

func checkImport(t *testing.T, file, dir, layer, imported string) {
	t.Helper()
	local, isLocal := strings.CutPrefix(imported, "linerate/")
	if !isLocal {
		if layer == "value" && slices.Contains(impure, imported) {
			t.Errorf("%s imports %s: a value package is pure; machines are reached by edge packages only", file, imported)
		}
		return
	}
	if strings.HasPrefix(local, "cmd/") || strings.HasPrefix(local, "bench/") {
		t.Errorf("%s imports %s: wiring and benches must not be imported", file, imported)
	}
	if layer == "value" && layerOf(local) != "value" {
		t.Errorf("%s imports %s: a value package imports values only", file, imported)
	}
	if inside(local, "imports") && !inside(dir, "imports") {
		t.Errorf("%s imports %s: only cmd may import the importers of others' results", file, imported)
	}
	if layer != "assembly" && layerOf(local) == "assembly" {
		t.Errorf("%s imports %s: only cmd may import assemblies", file, imported)
	}
	for iface, impls := range implementations {
		if layer == "assembly" {
			break
		}
		if i := slices.IndexFunc(impls, func(p string) bool { return inside(local, p) }); i >= 0 && !inside(dir, impls[i]) {
			t.Errorf("%s imports %s: only assemblies and cmd may import implementations of %s", file, imported, iface)
		}
	}
	for _, r := range forbidden {
		if inside(dir, r.from) && inside(local, r.to) {
			t.Errorf("%s imports %s: %s", file, imported, r.why)
		}
	}
}

// checkCalls refuses impure calls in a value package.
func checkCalls(t *testing.T, file string, f *ast.File) {
	t.Helper()
	names := map[string]string{} // name in the file → import path
	for _, imp := range f.Imports {
		p, _ := strconv.Unquote(imp.Path.Value)
		name := path.Base(p)
		if name == "v2" {
			name = path.Base(path.Dir(p))
		}
		if imp.Name != nil {
			name = imp.Name.Name
		}
		names[name] = p
	}
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && slices.Contains(impureCalls[names[x.Name]], sel.Sel.Name) {
			t.Errorf("%s uses %s.%s: a value package must take time and randomness as arguments", file, x.Name, sel.Sel.Name)
		}
		return true
	})
}

// namedFlag matches an option as typed on a command line.
var namedFlag = regexp.MustCompile(`(^|[ ` + "`" + `])--[a-z][a-z-]+`)

// flagsOfOthers are packages whose texts contain other programs' options.
var flagsOfOthers = map[string]bool{
	"internal/fact/linux": true, "internal/fact/redact": true, "internal/tunable": true, "internal/capture": true, "internal/report": true,
	"internal/studydir": true, "internal/knob": true, "internal/apply": true, "internal/assemble/hosts": true, "internal/cli": true,
	"internal/labtest/pgserver": true,
}

// TestMessagesNameNoFlags: a library does not know how its caller's users choose an option; it uses
// hint.Option, and cmd writes the flag.
func TestMessagesNameNoFlags(t *testing.T) {
	eachFile(t, func(file, dir string, f *ast.File) {
		if !strings.HasPrefix(dir, "internal/") && !inside(dir, "imports") || flagsOfOthers[dir] || strings.HasSuffix(file, "_test.go") {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && namedFlag.MatchString(strings.Trim(lit.Value, "`\"")) {
				t.Errorf("%s names a flag in %.80s: use hint.Option, or words", file, lit.Value)
			}
			return true
		})
	})
}

// layerOf returns the layer of a package directory.
func layerOf(dir string) string {
	for _, impls := range implementations {
		for _, p := range impls {
			if inside(dir, p) {
				return "implementation"
			}
		}
	}
	for _, l := range []struct {
		name string
		dirs []string
	}{{"edge", edges}, {"store", stores}, {"assembly", assemblies}, {"value", values}} {
		for _, p := range l.dirs {
			if inside(dir, p) {
				return l.name
			}
		}
	}
	return ""
}

func inside(dir, parent string) bool { return dir == parent || strings.HasPrefix(dir, parent+"/") }

// eachFile parses every non-test Go file, whatever its build tags.
func eachFile(t *testing.T, visit func(file, dir string, f *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git" || d.Name() == ".ci") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		visit(filepath.ToSlash(p), filepath.ToSlash(filepath.Dir(p)), f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestFileLength keeps files readable: none is longer than 600 lines, except generated ones.
func TestFileLength(t *testing.T) {
	eachFile(t, func(file, _ string, f *ast.File) {
		if ast.IsGenerated(f) {
			return
		}
		fset := token.NewFileSet()
		g, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if n := fset.Position(g.End()).Line; n > 600 {
			t.Errorf("%s has %d lines; split it by what its parts are about (limit 600)", file, n)
		}
	})
}

// escape matches the beginning of a terminal's escape sequence, in any notation.
var escape = regexp.MustCompile(`\\x1[bB]|\\033|\\u001[bB]`)

// TestOneWayToPrint: only package show writes colours, tables and overwritten lines.
func TestOneWayToPrint(t *testing.T) {
	eachFile(t, func(file, dir string, f *ast.File) {
		if dir == "internal/show" {
			return
		}
		for _, imp := range f.Imports {
			if p, _ := strconv.Unquote(imp.Path.Value); p == "text/tabwriter" || p == "github.com/charmbracelet/x/ansi" {
				t.Errorf("%s imports %s: tables and colours are show.Table and show.Style", file, p)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && escape.MatchString(lit.Value) {
				t.Errorf("%s has the escape sequence %s: show.Style paints", file, lit.Value)
			}
			return true
		})
	})
}

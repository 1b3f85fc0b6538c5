//go:build ignore

// Figures of a tree of linerate, for .ci/figures.
package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// source is one Go file that no program wrote.
type source struct {
	dir, name string
	test      bool
	lines     int
	syntax    *ast.File
	files     *token.FileSet
}

func main() {
	all, err := read(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
	scripts, err := readScripts(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
	lines(all, scripts)
	functions(all)
	climbs(all)
	tangles(all, "cmd/linerate", "internal/study")
	comparisons(all)
	kinds(all)
}

// read parses all files, whatever their build tags.
func read(root string) (all []source, err error) {
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && file != root && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(file, ".go") {
			return nil
		}
		s := source{test: strings.HasSuffix(file, "_test.go"), name: d.Name(), files: token.NewFileSet()}
		if s.syntax, err = parser.ParseFile(s.files, file, nil, parser.ParseComments); err != nil {
			return err
		}
		if ast.IsGenerated(s.syntax) {
			return nil
		}
		s.lines = s.files.File(s.syntax.Pos()).LineCount()
		rel, err := filepath.Rel(root, file)
		s.dir = filepath.ToSlash(filepath.Dir(rel))
		all = append(all, s)
		return err
	})
	return all, err
}

// readScripts counts the lines of testscript files (*.txtar), by the package whose
// testdata holds them.
func readScripts(root string) (map[string]int, error) {
	by := map[string]int{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".txtar") {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		dir, _, _ := strings.Cut(filepath.ToSlash(rel), "/testdata/")
		by[dir] += strings.Count(string(text), "\n")
		return err
	})
	return by, err
}

// ofTests are packages that only tests import: the suites that all implementations of
// an interface pass (bedtest, ledgertest …) and what tests share (labtest, sharedtest).
var ofTests = regexp.MustCompile(`(^|/)[a-z]+test(/|$)`)

// lines counts them, comments and blank ones included; packages of tests count as
// tests. Scripts are counted beside them: a line of one says more than a line of Go.
// The packages listed are those of 100 lines or more with the least tests.
func lines(all []source, scripts map[string]int) {
	type count struct{ source, test int }
	var sum count
	by := map[string]*count{}
	for _, s := range all {
		if by[s.dir] == nil {
			by[s.dir] = &count{}
		}
		for _, c := range []*count{&sum, by[s.dir]} {
			if s.test || ofTests.MatchString(s.dir) {
				c.test += s.lines
			} else {
				c.source += s.lines
			}
		}
	}
	ratio := func(c *count) float64 { return float64(c.test) / max(1, float64(c.source)) }
	inScripts := 0
	for _, n := range scripts {
		inScripts += n
	}
	fmt.Printf("lines: source %d, Go tests %d, scripts %d, Go tests a line %.2f; %d packages\n", sum.source, sum.test, inScripts, ratio(&sum), len(by))
	dirs := slices.DeleteFunc(slices.Collect(maps.Keys(by)), func(d string) bool { return by[d].source < 100 })
	slices.SortFunc(dirs, func(a, b string) int { return cmp.Or(cmp.Compare(ratio(by[a]), ratio(by[b])), cmp.Compare(a, b)) })
	less := 0
	for _, d := range dirs {
		if ratio(by[d]) < 0.5 {
			less++
		}
	}
	fmt.Printf("Go tests a line by package (source, Go tests, scripts), of 100 lines or more: %d of %d below 0.5\n", less, len(dirs))
	for _, d := range dirs {
		fmt.Printf("  %.2f  %5d %5d %4d  %s\n", ratio(by[d]), by[d].source, by[d].test, scripts[d], d)
	}
}

// functions measures their lengths in lines, tests' left out.
func functions(all []source) {
	var long []int
	for _, s := range all {
		for _, d := range s.syntax.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && !s.test && f.Body != nil {
				long = append(long, s.files.Position(f.End()).Line-s.files.Position(f.Pos()).Line+1)
			}
		}
	}
	slices.Sort(long)
	fmt.Printf("functions: %d; lines: median %d, p90 %d, max %d\n", len(long), long[len(long)/2], long[len(long)*9/10], long[len(long)-1])
}

// layers are those of layers_test.go, the lowest first; a list is matched by name.
var layers = []string{"values", "edges", "stores", "implementations", "assemblies"}

// climbs counts the imports of one package of the tree by another that stands in a
// higher layer: values below edges and stores, these below implementations, then what
// assembles, then commands. The layers are read from the tree's layers_test.go.
func climbs(all []source) {
	rank := map[string]int{}
	for _, s := range all {
		if s.dir == "." && s.name == "layers_test.go" {
			readLayers(s.syntax, rank)
		}
	}
	of := func(dir string) int {
		if strings.HasPrefix(dir, "cmd/") {
			return len(layers)
		}
		found, depth := 0, -1
		for p, r := range rank {
			if (dir == p || strings.HasPrefix(dir, p+"/")) && len(p) > depth {
				found, depth = r, len(p)
			}
		}
		return found
	}
	edges := map[[2]string]bool{}
	for _, s := range all {
		if s.test || s.dir == "." {
			continue
		}
		for _, i := range s.syntax.Imports {
			p, _ := strconv.Unquote(i.Path.Value)
			if local, ok := strings.CutPrefix(p, "linerate/"); ok {
				edges[[2]string{s.dir, local}] = true
			}
		}
	}
	var up []string
	for e := range edges {
		if of(e[1]) > of(e[0]) {
			up = append(up, e[0]+" → "+e[1])
		}
	}
	slices.Sort(up)
	fmt.Printf("imports between packages that climb: %d of %d\n", len(up), len(edges))
	for _, e := range up {
		fmt.Println("  " + e)
	}
}

func readLayers(f *ast.File, rank map[string]int) {
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			return true
		}
		at := slices.Index(layers, v.Names[0].Name)
		if at < 0 {
			return true
		}
		if at == 2 {
			at = 1 // stores stand beside edges
		}
		ast.Inspect(v.Values[0], func(n ast.Node) bool {
			if kv, ok := n.(*ast.KeyValueExpr); ok { // an interface is no implementation
				ast.Inspect(kv.Value, func(n ast.Node) bool { return note(n, rank, at) })
				return false
			}
			return note(n, rank, at)
		})
		return false
	})
}

func note(n ast.Node, rank map[string]int, at int) bool {
	if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		p, _ := strconv.Unquote(lit.Value)
		rank[p] = at
	}
	return true
}

// tangles looks within packages of many files. File a leads to file b when a uses a
// name that b declares at the top (methods and fields do not count). The files are put
// in an order in which as few uses as the heuristic of Eades, Lin and Smyth (1993)
// manages lead from a lower file to a higher one: those climb.
func tangles(all []source, dirs ...string) {
	for _, dir := range dirs {
		leads := leadsIn(all, dir)
		at := map[string]int{}
		for i, f := range ordered(leads) {
			at[f] = i
		}
		n, up := 0, []string{}
		for a, to := range leads {
			for b, names := range to {
				n++
				if at[b] < at[a] {
					up = append(up, a+" → "+b+": "+strings.Join(slices.Sorted(maps.Keys(names)), ", "))
				}
			}
		}
		fmt.Printf("uses between files that climb: %s %d of %d, in %d files\n", dir, len(up), n, len(leads))
		slices.Sort(up)
		for _, e := range up {
			fmt.Println("  " + e)
		}
	}
}

// ordered are the files, users before what they use.
func ordered(leads map[string]uses) (order []string) {
	left := slices.Sorted(maps.Keys(leads))
	var last []string // of the order, backwards
	degrees := func(f string) (out, in int) {
		for _, g := range left {
			if leads[f][g] != nil {
				out++
			}
			if leads[g][f] != nil {
				in++
			}
		}
		return out, in
	}
	for len(left) > 0 {
		best, most, sink := 0, 0, false
		for i, f := range left {
			out, in := degrees(f)
			if sink = out == 0; sink || in == 0 {
				best = i
				break
			}
			if i == 0 || out-in > most {
				best, most = i, out-in
			}
		}
		if f := left[best]; sink {
			last = append(last, f)
		} else {
			order = append(order, f)
		}
		left = slices.Delete(left, best, best+1)
	}
	slices.Reverse(last)
	return append(order, last...)
}

// uses are the names that a file uses of others, by their files.
type uses map[string]map[string]bool

func leadsIn(all []source, dir string) map[string]uses {
	declared := map[string][]string{} // name → its files: one for each system
	leads := map[string]uses{}
	for _, s := range all {
		if s.dir != dir || s.test {
			continue
		}
		leads[s.name] = uses{}
		for name := range s.syntax.Scope.Objects {
			declared[name] = append(declared[name], s.name)
		}
	}
	for _, s := range all {
		if s.dir != dir || s.test {
			continue
		}
		for _, id := range s.syntax.Unresolved {
			for _, in := range declared[id.Name] {
				if in == s.name {
					continue
				}
				if leads[s.name][in] == nil {
					leads[s.name][in] = map[string]bool{}
				}
				leads[s.name][in][id.Name] = true
			}
		}
	}
	return leads
}

// comparisons counts the structures, tests' left out, that spell out a comparison: an
// effect, its interval, p and a verdict as fields of their own.
func comparisons(all []source) {
	parts := []*regexp.Regexp{regexp.MustCompile(`^Effect`), regexp.MustCompile(`^(CI|Low|Interval|CILow)`), regexp.MustCompile(`^(P|PValue|PHolm)$`), regexp.MustCompile(`^Verdict$`)}
	var found []string
	for _, s := range all {
		if s.test {
			continue
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			t, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			st, ok := t.Type.(*ast.StructType)
			if !ok {
				return true
			}
			has := make([]bool, len(parts))
			for _, f := range st.Fields.List {
				names := []string{}
				for _, id := range f.Names {
					names = append(names, id.Name)
				}
				if x, ok := f.Type.(*ast.SelectorExpr); ok && len(names) == 0 && x.Sel.Name == "Effect" {
					has[0], has[1] = true, true // the effect with its interval, embedded
				}
				for _, name := range names {
					for i, p := range parts {
						has[i] = has[i] || p.MatchString(name)
					}
					if x, ok := f.Type.(*ast.SelectorExpr); ok && (x.Sel.Name == "Interval" || x.Sel.Name == "Effect") {
						has[1] = true // an effect that is an interval
					}
				}
			}
			if !slices.Contains(has, false) {
				found = append(found, path.Join(s.dir, s.name)+" "+t.Name.Name)
			}
			return true
		})
	}
	fmt.Printf("structures that spell out a comparison: %d\n", len(found))
	for _, f := range found {
		fmt.Println("  " + f)
	}
}

// ofAKind are files that belong to one kind of study, by their name or package's.
var ofAKind = regexp.MustCompile(`(forward|search|serve|switchback|kind|runner|http|smtp|mail|files)`)

// kinds counts the branches on what kind a part of a study is, in study, lab, report
// and cmd, outside the kinds themselves: on a part's mode, or on which of the parts'
// specifications and observations is there.
func kinds(all []source) {
	fields := []string{"Search", "HTTP", "SMTP", "Files", "Throughput", "Served", "Interleaved"}
	modes := []string{"Cost", "Overload", "Serve"}
	named := func(e ast.Expr, names []string) bool {
		x, ok := e.(*ast.SelectorExpr)
		return ok && slices.Contains(names, x.Sel.Name)
	}
	by, n := map[string]int{}, 0
	for _, s := range all {
		room := regexp.MustCompile(`^(cmd/linerate$|internal/(study|lab|report))`).FindString(s.dir)
		if room == "" || s.test || ofAKind.MatchString(strings.TrimSuffix(s.name, ".go")) || ofAKind.MatchString(strings.TrimPrefix(s.dir, room)) {
			continue
		}
		ast.Inspect(s.syntax, func(node ast.Node) bool {
			hit := 0
			switch x := node.(type) {
			case *ast.BinaryExpr:
				if x.Op != token.EQL && x.Op != token.NEQ {
					break
				}
				none, ok := x.Y.(*ast.Ident)
				if named(x.Y, modes) || ok && none.Name == "nil" && named(x.X, fields) {
					hit = 1
				}
			case *ast.CaseClause:
				for _, e := range x.List {
					if named(e, modes) {
						hit++
					}
				}
			}
			by[room] += hit
			n += hit
			return true
		})
	}
	fmt.Printf("branches on a part's kind outside the kinds: %d (study %d, lab %d, report %d, cmd %d)\n", n, by["internal/study"], by["internal/lab"], by["internal/report"], by["cmd/linerate"])
}

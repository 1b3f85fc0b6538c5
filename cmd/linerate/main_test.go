package main

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"linerate/internal/labtest"
	"linerate/internal/pack"
)

// update rewrites golden files: go test ./... -update.
var update = flag.Bool("update", false, "rewrite golden files")

func TestMain(m *testing.M) {
	labtest.SideBySide()
	testscript.Main(ownLedger{m}, map[string]func(){
		"mkarchive": func() { makeArchive(os.Args[1]) },
		"field":     func() { printField(os.Args[1]) },
		"edit":      func() { edit(os.Args[1], os.Args[2:]...) },
		"fetched":   func() { fetched(os.Args[1]) },
		"waitfor":   func() { waitFor(os.Args[1], os.Args[2:]...) },
		"mkplan":    func() { makePlan(os.Args[1], os.Args[2:]) },
		"linerate":  func() { simulate(); os.Exit(runChecked(os.Args[1:])) },
	})
}

// ownLedger runs the tests with a temporary ledger: the machine's ledger may not be writable,
// or be from a newer linerate. Child processes inherit it; scripts have their own.
type ownLedger struct{ *testing.M }

// Run implements testscript.TestingM.
func (m ownLedger) Run() int {
	labtest.InMemory() // not before: the commands' files are links to this program
	dir, err := os.MkdirTemp("", "linerate-ledger-")
	fatal(err)
	defer os.RemoveAll(dir)
	fatal(os.Setenv("LINERATE_LEDGER", filepath.Join(dir, "ledger.db")))
	return m.M.Run()
}

// waitFor waits until a file is not empty, or contains all the given texts.
func waitFor(file string, text ...string) {
	if !labtest.Eventually(func() bool {
		data, err := os.ReadFile(file)
		return err == nil && len(data) > 0 && strings.Contains(string(data), strings.Join(text, " "))
	}) {
		fatal(fmt.Errorf("%s has no %q", file, text))
	}
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestScripts runs the command as users do; each script tests one behaviour.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			fitSchemas(t, e)
			e.Setenv("SOURCES", sourcesOf(t))
			// No script may touch the ledger of the user who runs it.
			e.Setenv("LINERATE_LEDGER", filepath.Join(e.WorkDir, ".ledger", "ledger.db"))
			return nil
		},
	})
}

// archive is a small archive of fabricated benchmark results, written by a test of imports/netbenches.
//
//go:embed testdata/archive.pack
var archive []byte

// makeArchive unpacks it.
func makeArchive(dir string) {
	for name, text := range pack.Map[[]byte](archive)() {
		fatal(os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		fatal(os.WriteFile(filepath.Join(dir, name), text, 0o644))
	}
}

// edit replaces every occurrence of a text in a file; without texts it cuts the last twenty
// bytes off the file.
func edit(file string, texts ...string) {
	data, err := os.ReadFile(file)
	text := string(data)
	switch {
	case err != nil:
	case len(texts) < 2:
		text = text[:max(0, len(text)-20)]
	case !strings.Contains(text, texts[0]):
		err = fmt.Errorf("%s does not hold %q", file, texts[0])
	default:
		text = strings.ReplaceAll(text, texts[0], texts[1])
	}
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// printField prints the first value at a dotted path of the JSON on standard input; an array
// that the path does not index is entered at its first element.
func printField(path string) {
	var v any
	if err := json.NewDecoder(os.Stdin).Decode(&v); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	found := fieldOf(v, strings.Split(path, "."))
	if found == nil {
		fmt.Fprintln(os.Stderr, "no field", path)
		os.Exit(1)
	}
	fmt.Println(found)
}

func fieldOf(v any, path []string) any {
	switch v := v.(type) {
	case []any:
		if len(v) == 0 {
			return nil
		}
		if len(path) > 0 && path[0] == "0" {
			path = path[1:]
		}
		return fieldOf(v[0], path)
	case map[string]any:
		if len(path) == 0 {
			return nil
		}
		if inner, ok := v[path[0]]; ok {
			return fieldOf(inner, path[1:])
		}
		for _, inner := range v { // look into the lists of a document
			list, ok := inner.([]any)
			if found := fieldOf(list, path); ok && found != nil {
				return found
			}
		}
		return nil
	}
	return v
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documented matches a command of this program in a page.
var documented = regexp.MustCompile("(?m)(?:^    go run (?:-exec sudo )?\\./cmd/|`)linerate-bench ([a-z][^`\n]*?)(?:  .*)?(?:`|$)")

// documentedBench matches a benchmark's command in a page: its package, its name, and its flags.
var documentedBench = regexp.MustCompile("go test \\./(\\S+) .*?-bench ([A-Z]\\w+)([^`\n]*)")

// TestDocumentedCommands: the commands on pages have existing words and flags.
func TestDocumentedCommands(t *testing.T) {
	eachCommand(t, documented, func(page string, m []string) {
		var out, errs bytes.Buffer
		if code := run(append(strings.Fields(m[1]), "--help"), strings.NewReader(""), &out, &errs); code != 0 {
			t.Errorf("%s: linerate-bench %s: exit %d, %s", page, m[1], code, errs.String())
		}
	})
}

// TestDocumentedBenchmarks: the benchmarks on pages exist, and define the flags after -args.
func TestDocumentedBenchmarks(t *testing.T) {
	eachCommand(t, documentedBench, func(page string, m []string) {
		var source []byte
		files, _ := filepath.Glob(filepath.Join("../..", m[1], "*_test.go"))
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			source = append(source, text...)
		}
		want := []string{`func Benchmark` + m[2]}
		_, args, _ := strings.Cut(m[3], " -args ")
		for arg := range strings.FieldsSeq(args) {
			if name, is := strings.CutPrefix(arg, "-"); is {
				want = append(want, `flag\.\w+\("`+name+`"`)
			}
		}
		for _, w := range want {
			if !regexp.MustCompile(w).Match(source) {
				t.Errorf("%s: %s: no %s in %s", page, m[0], w, m[1])
			}
		}
	})
}

// eachCommand calls f for each match in the pages; there must be some.
func eachCommand(t *testing.T, command *regexp.Regexp, f func(page string, match []string)) {
	t.Helper()
	found := 0
	for _, pattern := range []string{"../../docs/*/*.md", "../../docs/*/*/*.md", "../../*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range command.FindAllStringSubmatch(string(text), -1) {
				found++
				f(page, m)
			}
		}
	}
	if found == 0 {
		t.Errorf("no commands found")
	}
}

package linerate

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documentedBench matches a benchmark's command in a page: its package, its name, and its flags.
var documentedBench = regexp.MustCompile("go test \\./(\\S+) .*?-bench ([A-Z]\\w+)([^`\n]*)")

// TestDocumentedBenchmarks: the benchmarks on pages exist, and define the flags after -args.
func TestDocumentedBenchmarks(t *testing.T) {
	found := 0
	check := func(page string, m []string) {
		found++
		var source []byte
		files, _ := filepath.Glob(filepath.Join(m[1], "*_test.go"))
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
	}
	for _, pattern := range []string{"docs/*/*.md", "docs/*/*/*.md", "*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range documentedBench.FindAllStringSubmatch(string(text), -1) {
				check(page, m)
			}
		}
	}
	if found == 0 {
		t.Errorf("no commands found")
	}
}

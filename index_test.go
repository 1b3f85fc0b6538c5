package linerate

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var fileName = regexp.MustCompile(`\b\w+\.go\b`)

// TestIndexesNameFiles: the files that a package's doc.go refers to exist.
func TestIndexesNameFiles(t *testing.T) {
	docs, err := filepath.Glob("internal/*/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	indexes := 0
	for _, doc := range docs {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		_, index, ok := strings.Cut(string(text), "// Files:")
		if !ok {
			continue
		}
		indexes++
		for _, name := range fileName.FindAllString(index, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(doc), name)); err != nil {
				t.Errorf("%s refers to %s: %v", doc, name, err)
			}
		}
	}
	if indexes < 3 {
		t.Errorf("%d packages have an index", indexes)
	}
}

// TestArchitectureNamesWhatExists: every path in the table "To change …, open …" exists, and the page stays
// short.
func TestArchitectureNamesWhatExists(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## To change")
	table, _, _ = strings.Cut(table, "\n## ")
	paths := regexp.MustCompile("`([a-z/.]+)`").FindAllStringSubmatch(table, -1)
	for _, p := range paths {
		if _, err := os.Stat(p[1]); err != nil {
			t.Errorf("ARCHITECTURE.md: %v", err)
		}
	}
	if len(paths) < 20 {
		t.Errorf("the table names %d paths", len(paths))
	}
	if n := strings.Count(string(text), "\n"); n > 120 {
		t.Errorf("ARCHITECTURE.md has %d lines, at most 120 are allowed", n)
	}
}

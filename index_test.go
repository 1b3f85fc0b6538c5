package linerate

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var fileName = regexp.MustCompile(`\b\w+\.go\b`)

// TestIndexesNameFiles: what a package's doc.go says is where things are, is there.
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
		_, index, ok := strings.Cut(string(text), "// Where things are:")
		if !ok {
			continue
		}
		indexes++
		for _, name := range fileName.FindAllString(index, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(doc), name)); err != nil {
				t.Errorf("%s sends a reader to %s: %v", doc, name, err)
			}
		}
	}
	if indexes < 3 {
		t.Errorf("%d packages have an index", indexes)
	}
}

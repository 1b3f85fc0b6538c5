package linerate

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

var (
	// mdLink matches a Markdown link to a local file.
	mdLink = regexp.MustCompile(`\]\(([^)\s:#]+)(#[^)\s]*)?\)`)
	// docName matches a page of docs named in a message or comment.
	docName = regexp.MustCompile(`docs/(guide|reference|design)/[a-z0-9./-]+\.(md|svg)`)
)

// TestDocsLeadSomewhere: every link between pages, and every page named in a page, message or comment, exists.
func TestDocsLeadSomewhere(t *testing.T) {
	there := func(name string) bool { _, err := os.Stat(name); return err == nil }
	eachText(t, func(file, text string) {
		if path.Ext(file) == ".md" {
			for _, m := range mdLink.FindAllStringSubmatch(text, -1) {
				if to := path.Join(path.Dir(file), m[1]); !there(to) {
					t.Errorf("%s links to %s, which does not exist", file, to)
				}
			}
		}
		for _, name := range docName.FindAllString(text, -1) {
			if !there(name) {
				t.Errorf("%s names %s, which does not exist", file, name)
			}
		}
	})
}

// TestDocsAreIndexed: docs/README.md links to every page, and docs/guide/questions.md to every question's.
func TestDocsAreIndexed(t *testing.T) {
	linked := map[string]bool{"docs/README.md": true}
	for _, index := range []string{"docs/README.md", "docs/guide/questions.md"} {
		text, err := os.ReadFile(index)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range mdLink.FindAllStringSubmatch(string(text), -1) {
			linked[path.Join(path.Dir(index), m[1])] = true
		}
	}
	eachText(t, func(file, _ string) {
		if strings.HasPrefix(file, "docs/") && path.Ext(file) == ".md" && !linked[file] {
			t.Errorf("no index links to %s", file)
		}
	})
}

// eachText visits the pages and sources that people read.
func eachText(t *testing.T, visit func(file, text string)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS("."), ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git") {
			return fs.SkipDir
		}
		if ext := path.Ext(file); d.IsDir() || ext != ".md" && ext != ".go" && ext != ".yaml" {
			return nil
		}
		text, err := os.ReadFile(file)
		visit(file, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

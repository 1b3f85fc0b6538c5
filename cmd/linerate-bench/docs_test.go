package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documented matches a command of this program on its own line in a page.
var documented = regexp.MustCompile(`(?m)^    go run (?:-exec sudo )?\./cmd/linerate-bench (\S.*?)(?:\s{2,}.*)?$`)

// TestDocumentedCommands: the commands on pages have existing words and flags.
func TestDocumentedCommands(t *testing.T) {
	found := 0
	for _, pattern := range []string{"../../docs/*/*.md", "../../*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range documented.FindAllStringSubmatch(string(text), -1) {
				found++
				var out, errs bytes.Buffer
				if code := run(append(strings.Fields(m[1]), "--help"), strings.NewReader(""), &out, &errs); code != 0 {
					t.Errorf("%s: linerate-bench %s: exit %d, %s", page, m[1], code, errs.String())
				}
			}
		}
	}
	if found == 0 {
		t.Errorf("%d commands found", found)
	}
}

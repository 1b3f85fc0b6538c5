package linerate

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"linerate/docs"
	"linerate/internal/pack"
)

var update = flag.Bool("update", false, "write docs.pack from the pages")

// TestPagesAreFresh: the packed pages are made from these files.
func TestPagesAreFresh(t *testing.T) {
	files, _ := filepath.Glob("docs/reference/*.md")
	want := map[string]string{}
	for _, file := range append(files, "docs/guide/ssh.md", "docs/guide/audit.md", "docs/guide/fleet.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want[filepath.ToSlash(file[len("docs/"):])] = string(text)
	}
	if *update {
		body, err := pack.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		packed, err := pack.Compress(body)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("docs/docs.pack", packed, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !maps.Equal(docs.Pages(), want) {
		t.Error("docs.pack is not made from these files; run: go test . -run TestPagesAreFresh -update")
	}
}

package texts

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"linerate/internal/pack"
)

var update = flag.Bool("update", false, "write texts.pack from the text files")

// TestFresh: the pack has the texts as they are.
func TestFresh(t *testing.T) {
	files, _ := filepath.Glob("../vocabulary/*.txt")
	want := map[string]string{}
	for _, file := range append(slices.Clone(files), "../redact/rules.txt", "../redact/words.txt", "../redact/ownwords.txt", "../slips.txt", "../filter/letin.txt", "../needs.txt", "../freebsd/grammar.txt", "../freebsd/needs.txt", "../linux/grammar.txt") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want[filepath.ToSlash(file[len("../"):])] = string(text)
	}
	body, err := pack.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		packed, err := pack.Compress(body)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("texts.pack", packed, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := pack.Expand(packed); err != nil || !bytes.Equal(got, body) {
		t.Fatalf("texts.pack is not made from these files (%v); run: go test ./internal/fact/texts -update", err)
	}
	if len(Below("vocabulary")) != len(files) || Read("slips.txt") == "" {
		t.Error("a text cannot be read from the pack")
	}
}

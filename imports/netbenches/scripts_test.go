package netbenches_test

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"testing"

	"linerate/internal/pack"
)

var update = flag.Bool("update", false, "write the archive that the scripts of cmd/linerate import")

// TestArchiveOfScripts: the archive that the scripts of cmd/linerate import is a fictitious one.
func TestArchiveOfScripts(t *testing.T) {
	dir := t.TempDir()
	if err := writeArchive(dir, fictitious{Studies: 5, Variants: 3, Trials: 5, Rows: 40, Seed: 11}); err != nil {
		t.Fatal(err)
	}
	texts := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			texts[name], err = fs.ReadFile(os.DirFS(dir), name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := pack.Marshal(texts)
	if err == nil {
		b, err = pack.Compress(b)
	}
	if err != nil {
		t.Fatal(err)
	}
	const file = "../../cmd/linerate/testdata/archive.pack"
	if *update {
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := os.ReadFile(file); err != nil || !bytes.Equal(kept, b) {
		t.Errorf("%s differs (%v): run this test with -update", file, err)
	}
}

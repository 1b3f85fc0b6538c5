package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestWriteFileIsWholeOrNot(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	text := func(s string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			_, werr := io.WriteString(w, s)
			return errors.Join(werr, err)
		}
	}
	if err := writeFile(path, text("one", nil)); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if err := writeFile(path, text("half", broken)); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if got, err := os.ReadFile(path); string(got) != "one" || err != nil {
		t.Errorf("after a failure the file holds %q (%v)", got, err)
	}
	if left, err := os.ReadDir(dir); len(left) != 1 || err != nil {
		t.Errorf("left behind: %v (%v)", left, err)
	}
	if err := writeFile(os.DevNull, text("gone", nil)); err != nil {
		t.Error(err)
	}
	if at, err := os.Stat(os.DevNull); err != nil || at.Mode().IsRegular() {
		t.Errorf("%s was replaced by a file (%v)", os.DevNull, err)
	}
}

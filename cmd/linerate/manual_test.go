package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"linerate/internal/labtest"
	"linerate/internal/manual"
)

// TestManual: every verb has a page, and mandoc(1) finds nothing wrong
// with any.
func TestManual(t *testing.T) {
	pages := manual.All(newRootCmd(), manual.Of{Version: "1.2.3", Date: "2026-11-22"})
	have := map[string]bool{}
	dir := t.TempDir()
	args := []string{"-Tlint"}
	for _, p := range pages {
		have[p.File()] = true
		to := filepath.Join(dir, filepath.Base(p.File()))
		if err := os.WriteFile(to, []byte(p.Source), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, to)
	}
	want := []string{"man1/linerate.1"}
	for _, v := range verbs() {
		if v.Name() != "help" && !v.Hidden {
			want = append(want, "man1/linerate-"+v.Name()+".1")
		}
	}
	for _, file := range want {
		if !have[file] {
			t.Errorf("no page %s", file)
		}
	}
	labtest.Program(t, "mandoc")
	if out, err := exec.Command("mandoc", args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%.3000s", err, out)
	}
}

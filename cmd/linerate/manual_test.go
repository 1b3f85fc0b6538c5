package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linerate/internal/labtest"
)

// TestManual: every command has a manual page, and mandoc(1) finds no error in any.
func TestManual(t *testing.T) {
	dir := t.TempDir()
	if err := writeManual(newRootCmd(), dir, "linerate 1.2.3", time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	for _, v := range verbs() {
		page, err := os.ReadFile(filepath.Join(dir, "linerate-"+v.Name()+".1"))
		if v.Name() == "help" || v.Hidden {
			continue
		}
		if err != nil || !strings.Contains(string(page), "linerate 1.2.3") || !strings.Contains(string(page), "Nov 2026") {
			t.Errorf("%s: %v\n%.300s", v.Name(), err, page)
		}
	}
	labtest.Program(t, "mandoc")
	files, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(files) < 30 {
		t.Fatalf("%d pages: %v", len(files), err)
	}
	if out, err := exec.Command("mandoc", append([]string{"-Tlint", "-Werror"}, files...)...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%.3000s", err, out)
	}
}

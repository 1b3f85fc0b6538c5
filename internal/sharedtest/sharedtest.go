// Package sharedtest finds the optional folder of real captures that tests
// may use: beside the repository's root, or where LINERATE_SHARED says. It is
// no part of the project; tests that want it skip without it.
package sharedtest

import (
	"os"
	"path/filepath"
	"testing"
)

// Dir returns the folder's sub-directory, or skips the test.
func Dir(t testing.TB, elem ...string) string {
	t.Helper()
	root := os.Getenv("LINERATE_SHARED")
	if root == "" {
		root = filepath.Join(repository(t), "..", "shared")
	}
	dir := filepath.Join(append([]string{root}, elem...)...)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no captures to test with: %v", err)
	}
	return dir
}

// repository walks up to the directory that holds go.mod.
func repository(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
}

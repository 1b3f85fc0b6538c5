// Package sharedtest finds the optional directory of real captures that tests may use: next
// to the repository's root, or at LINERATE_SHARED. It is not part of the project; tests that
// need it skip without it.
package sharedtest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Environment names the variable that specifies the directory and makes it required: tests then
// fail if a part of it is missing. The value "required" means the directory next to the repository.
const Environment = "LINERATE_SHARED"

// Dir returns a subdirectory, or skips the test. It fails the test if the directory is required, or
// if only a part of it is missing on a machine where no test may skip (LINERATE_LAB=required).
func Dir(t testing.TB, elem ...string) string {
	t.Helper()
	root := os.Getenv(Environment)
	required := root != ""
	if root == "" || root == "required" {
		root = filepath.Join(repository(), "..", "shared")
	}
	if os.Getenv("LINERATE_LAB") == "required" {
		_, err := os.Stat(root)
		required = required || err == nil
	}
	dir := filepath.Join(append([]string{root}, elem...)...)
	if _, err := os.Stat(dir); err != nil {
		if required {
			t.Fatalf("captures are required here: %v", err)
		}
		t.Skipf("no captures to test with: %v", err)
	}
	return dir
}

// Catalogue returns the catalogue's files in the repository.
func Catalogue() fs.FS { return os.DirFS(filepath.Join(repository(), "catalogue")) }

// repository returns the nearest parent of the test's directory with a go.mod.
func repository() string {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	panic(fmt.Sprintf("no go.mod above the test: %v", err))
}

package sharedtest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// ended is a test that notes how it was ended.
type ended struct {
	testing.TB
	how string
}

func (e *ended) Helper()                      {}
func (e *ended) Fatalf(f string, args ...any) { e.end("fails: " + fmt.Sprintf(f, args...)) }
func (e *ended) Skipf(f string, args ...any)  { e.end("skips: " + fmt.Sprintf(f, args...)) }
func (e *ended) end(how string)               { e.how = how[:5]; panic(e) }

// TestDir: a clone without the folder skips; who requires it hears that it is missing,
// and so does a machine on which nothing may skip, of a part of it.
func TestDir(t *testing.T) {
	there := t.TempDir()
	if err := os.Mkdir(filepath.Join(there, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, shared, lab, elem, want string }{
		{"named and there", there, "", "data", ""},
		{"named, and a part is missing", there, "", "more", "fails"},
		{"named and not there", filepath.Join(there, "no"), "", "data", "fails"},
		{"a clone", "", "", "no such part", "skips"},
	} {
		t.Setenv(Environment, c.shared)
		t.Setenv("LINERATE_LAB", c.lab)
		if got := dirOf(t, c.elem); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	t.Setenv(Environment, "")
	t.Setenv("LINERATE_LAB", "required")
	want := "skips" // a clone may be tested on any machine
	if _, err := os.Stat(filepath.Join(repository(), "..", "shared")); err == nil {
		want = "fails"
	}
	if got := dirOf(t, "no such part"); got != want {
		t.Errorf("where nothing may skip: %q, want %q", got, want)
	}
}

// dirOf is how Dir ends a test; "" where it does not.
func dirOf(t *testing.T, elem string) string {
	e := &ended{TB: t}
	func() {
		defer func() { _ = recover() }()
		Dir(e, elem)
	}()
	return e.how
}

package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAsRoot: with sudo, with doas, with both and with neither.
func TestAsRoot(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	put := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ add, want string }{
		{"", "su -c 'linerate demo'"}, {"doas", "doas linerate demo"}, {"sudo", "sudo linerate demo"},
	} {
		if c.add != "" {
			put(c.add)
		}
		if got := AsRoot("linerate demo"); got != c.want {
			t.Errorf("with %q: %s, want %s", c.add, got, c.want)
		}
	}
}

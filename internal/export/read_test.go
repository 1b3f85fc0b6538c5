package export

import (
	"slices"
	"strings"
	"testing"
)

// directives are the lines of a text that are no comments.
func directives(text string) (all []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			all = append(all, line)
		}
	}
	return all
}

// TestRead: forms that stand for files are read back to the same settings.
func TestRead(t *testing.T) {
	for _, c := range []struct{ os, form string }{{"linux", "ansible"}, {"freebsd", "ansible"}, {"linux", "cloud-init"}, {"linux", "nixos"}} {
		files, os, ok := Read(written(t, c.os, c.form))
		if !ok || os != c.os {
			t.Errorf("%s of %s is not read: %q", c.form, c.os, os)
			continue
		}
		for at, content := range want(t, c.os) {
			if got, want := directives(files[at]), directives(content); !slices.Equal(got, want) || len(want) == 0 {
				t.Errorf("%s, %s: %q, want %q", c.form, at, got, want)
			}
		}
	}
	for _, text := range []string{"", "---\n- hosts: all\n", "#cloud-config\nwrite_files: []\n", "net.core.somaxconn=1\n", written(t, "linux", "sysctl.d")} {
		if files, _, ok := Read(text); ok {
			t.Errorf("%q is read as %v", text, files)
		}
	}
}

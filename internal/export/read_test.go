package export

import (
	"maps"
	"testing"

	"linerate/internal/plan"
)

// TestRead: forms that stand for files are read back to the same settings.
func TestRead(t *testing.T) {
	for _, c := range []struct{ os, form string }{{"linux", "ansible"}, {"freebsd", "ansible"}, {"linux", "cloud-init"}, {"linux", "nixos"}} {
		files, os, ok := Read(written(t, c.os, c.form))
		if !ok || os != c.os {
			t.Errorf("%s of %s is not read: %q", c.form, c.os, os)
			continue
		}
		for at, content := range want(t, c.os) {
			if c.form == "nixos" && at != plan.LinuxSysctl {
				continue
			}
			if got, want := settings(files[at]), settings(content); !maps.Equal(got, want) {
				t.Errorf("%s, %s: %v, want %v", c.form, at, got, want)
			}
		}
	}
	for _, text := range []string{"", "---\n- hosts: all\n", "#cloud-config\nwrite_files: []\n", "net.core.somaxconn=1\n", written(t, "linux", "sysctl.d")} {
		if files, _, ok := Read(text); ok {
			t.Errorf("%q is read as %v", text, files)
		}
	}
}

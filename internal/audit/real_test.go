package audit_test

import (
	"archive/tar"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/audit"
	"linerate/internal/fact"
	"linerate/internal/host/filehost"
	"linerate/internal/inspect"
	"linerate/internal/role"
	"linerate/internal/sharedtest"
)

// bundled reads a capture bundle made of a real FreeBSD host's outputs, as booted ("01-default") or
// with modules ("02-modules").
func bundled(t *testing.T, state string) *fact.Facts {
	t.Helper()
	queries := map[string]string{
		"uname": "uname.txt", "freebsd-version": "osrel.txt", "kenv": "kenv.txt", "dmesg": "dmesg.txt", "pciconf": "pciconf.txt", "mount": "mount.txt",
		"sysctl-a": state + ".sysctl-a.txt", "sysctl-at": state + ".sysctl-at.txt", "sysctl-aNT": state + ".sysctl-aNT.txt", "sysctl-aNW": state + ".sysctl-aNW.txt",
		"kldstat": state + ".kldstat.txt", "ifconfig": state + ".ifconfig-v.txt", "netstat-m": state + ".netstat-m.txt", "netstat-Q": state + ".netstat-Q.txt",
		"netstat-i": state + ".netstat-i.txt", "netstat-s": state + ".netstat-s.txt", "vmstat-i": state + ".vmstat-i.txt", "vmstat-z": state + ".vmstat-z.txt",
	}
	path := filepath.Join(t.TempDir(), "bundle.tar")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(out)
	entry := func(name, text string) {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	manifest := "bundle\t1\nos\tFreeBSD\n"
	for path, file := range map[string]string{"/boot/loader.conf": "loader.conf.txt", "/etc/sysctl.conf": "sysctl.conf.txt", "/etc/rc.conf": "rc.conf.txt"} {
		manifest += "file\t" + path + "\tread\n"
		entry("files"+path, captured(t, file))
	}
	for id, file := range queries {
		manifest += "query\t" + id + "\t0\n"
		entry("out/"+id, captured(t, file))
	}
	entry("manifest.tsv", manifest)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := filehost.OpenBundle(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := inspect.Host(context.Background(), r, inspect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestRealHostHasNoFalseAlarms: on a router with three deliberately wrong lines, exactly those get a
// warning, plus one that it forwards IPv6 on the slow path.
func TestRealHostHasNoFalseAlarms(t *testing.T) {
	for _, state := range []string{"01-default", "02-modules"} {
		f := bundled(t, state)
		g, err := role.Of(f)
		if err != nil {
			t.Fatal(err)
		}
		r := run(t, f, g.Role)
		var loud []string
		for _, f := range r.Findings {
			if f.Severity.AtLeast(audit.Warning) {
				loud = append(loud, f.ID)
			}
		}
		want := []string{"LR-RENAMED:net.inet.tcp.rfc6675_pipe", "LR-MISPLACED:net.inet.tcp.hostcache.enable", "LR-MISPLACED:net.link.ifqmaxlen"}
		if g.Role != "router" || !slices.Equal(loud, want) {
			t.Errorf("%s as a %s: %v, want %v", state, g.Role, loud, want)
		}
	}
}

// TestBenchmarkTrees audits configurations that a lab has benchmarked: they worked there, so no line
// is a typo or unreadable, on any release; the audits are fast and repeatable.
func TestBenchmarkTrees(t *testing.T) {
	trees := 0
	root := sharedtest.Dir(t, "data", "netbenches")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || filepath.Base(path) != "etc" || !strings.Contains(path, "configs") {
			return err
		}
		trees++
		for _, rel := range []string{"11.4", "14.3", "15.0"} {
			f := treeAt(t, rel, filepath.Dir(path))
			g, err := role.Of(f)
			if err != nil {
				return err
			}
			r := run(t, f, g.Role)
			for _, x := range r.Findings {
				if x.Rule() == "LR-UNKNOWN" && x.Severity != audit.Info || x.Rule() == "LR-SYNTAX" || x.Kind == audit.Memory {
					t.Errorf("%s on %s: %s: %s", strings.TrimPrefix(path, root), rel, x.ID, x.Message)
				}
			}
			if rel == "14.3" && !slices.Equal(ids(r), ids(run(t, f, g.Role))) {
				t.Errorf("%s: two audits give different findings", path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if trees < 50 {
		t.Errorf("only %d trees", trees)
	}
}

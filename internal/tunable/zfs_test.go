package tunable_test

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	"linerate/catalogue"
	"linerate/internal/tunable"
)

// zfsCapture is what FreeBSD 14.0-STABLE reported about the sysctls below vfs.zfs with zfs.ko
// (OpenZFS 2.2.2) loaded and no pool: name, type (-t), when it can be set (-T, -W) and value, on an
// emulated machine with 2 GiB and two processors.
//
//go:embed testdata/zfs-14.0.tsv
var zfsCapture string

// TestZFSAgainstFreeBSD14 compares every ZFS record with a running FreeBSD 14.0: existence, when it
// can be set, type and default.
func TestZFSAgainstFreeBSD14(t *testing.T) {
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	host := captured{value: map[string]string{"hw.physmem": "2134339584", "hw.realmem": "2147483648", "hw.pagesize": "4096", "hw.ncpu": "2"}}
	kind, settable := map[string]string{}, map[string]tunable.Settable{}
	for l := range strings.Lines(zfsCapture) {
		f := strings.Split(strings.TrimSuffix(l, "\n"), "\t")
		if len(f) != 4 {
			t.Fatalf("not four fields: %q", l)
		}
		kind[f[0]], settable[f[0]], host.value[f[0]] = f[1], tunable.Settable(f[2]), f[3]
	}
	f := hostOf(host)
	env, compared := c.NewEnv(f, ""), 0
	for _, r := range c.Records {
		if r.OS != tunable.FreeBSD || !strings.HasPrefix(r.Name, "vfs.zfs.") {
			continue
		}
		s := r.At(f.Release)
		if _, has := kind[r.Name]; has != s.Exists {
			t.Errorf("%s: the catalogue says %v of whether it exists, the host %v", r.Name, s.Exists, has)
		}
		if !s.Exists {
			continue
		}
		compared++
		if got := settable[r.Name]; got != s.Settable {
			t.Errorf("%s: catalogue %s, host %s", r.Name, s.Settable, got)
		}
		if !slices.Contains(kinds[kind[r.Name]], s.Type) {
			t.Errorf("%s: catalogue %s, host %s", r.Name, s.Type, kind[r.Name])
		}
		if want, ok := r.DefaultIn(f.Release, env); ok && !r.SameValue(host.value[r.Name], want) {
			t.Errorf("%s: the default is %q in the catalogue and %q on the host", r.Name, want, host.value[r.Name])
		}
	}
	if compared < 190 {
		t.Errorf("only %d sysctls compared", compared)
	}
}

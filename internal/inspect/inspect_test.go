package inspect

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/host/filehost"
	"linerate/internal/sharedtest"
)

// writeTree makes a directory tree of files.
func writeTree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for p, text := range files {
		p = filepath.Join(dir, p)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func inspectTree(t *testing.T, dir, rel string) *fact.Facts {
	t.Helper()
	tree, err := filehost.OpenTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	f, err := Host(context.Background(), tree, Options{Release: release.MustParse(rel)})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestTree(t *testing.T) {
	f := inspectTree(t, writeTree(t, map[string]string{
		"boot/loader.conf":       "pf_load=\"YES\"\nnet.isr.maxthreads=\"-1\"\nhw.igb.rxd=4096\n",
		"boot/loader.conf.local": "hw.igb.rxd=\"2048\"\n",
		"etc/sysctl.conf":        "net.inet.tcp.tso=0\nnet.isr.maxthreads=4\n",
		"etc/rc.conf":            "gateway_enable=YES\npf_enable=yes\nkld_list=\"cc_htcp\"\nifconfig_igb0=\"inet 198.18.0.1/24 -lro -tso4\"\ncloned_interfaces=\"lo1 bridge0\"\nvlans_igb0=\"10\"\n",
		"etc/pf.conf":            "set limit states 20000\nscrub in all max-mss 1440\nnat on igb0 from any to any -> (igb0)\nblock in\npass out keep state\n",
	}), "14.3")
	if f.OS != fact.FreeBSD || f.Release.Short() != "14.3" || f.From.Kind != fact.KindTree {
		t.Errorf("%s %s %+v", f.OS, f.Release, f.From)
	}
	s, _ := f.Tunable("net.isr.maxthreads")
	if len(s.Lines) != 2 || s.Lines[0].Stage != fact.Loader || s.Lines[1].Stage != fact.Sysctl {
		t.Errorf("lines %+v", s.Lines)
	}
	if v, _ := f.Value("hw.igb.rxd"); v != "2048" {
		t.Errorf("hw.igb.rxd = %q, want the later file's", v)
	}
	if m, ok := f.Module("pf"); !ok || m.Lines[0].File != "/boot/loader.conf" {
		t.Errorf("module pf %+v", m)
	}
	if _, ok := f.Module("cc_htcp"); !ok {
		t.Error("kld_list loads cc_htcp")
	}
	nic, _ := f.NIC("igb0")
	if nic.Driver != "igb" || nic.Kind != fact.KindEthernet || len(nic.ConfigFlags) != 2 || nic.IPv4 != 1 {
		t.Errorf("igb0 %+v", nic)
	}
	if v, _ := f.NIC("igb0.10"); v.Parent != "igb0" || v.Kind != fact.KindVLAN {
		t.Errorf("vlan %+v", v)
	}
	pf := f.Firewall.PF
	if pf == nil || !pf.Configured || pf.Rules != 2 || pf.Translations != 1 || pf.FileLimits[0].Value != 20000 || pf.Scrub[0].MaxMSS != 1440 {
		t.Errorf("pf %+v", pf)
	}
}

// TestTreeOfACopy: a copy's release and machine are those of its os-release and its boot log.
func TestTreeOfACopy(t *testing.T) {
	tree, err := filehost.OpenTree(writeTree(t, map[string]string{
		"etc/rc.conf":        "gateway_enable=\"YES\"\n",
		"etc/os-release":     "NAME=FreeBSD\nVERSION=\"14.1-RELEASE-p5\"\nVERSION_ID=14.1\nID=freebsd\n",
		"var/run/dmesg.boot": "FreeBSD 14.1-RELEASE-p5 GENERIC amd64\nreal memory  = 17179869184 (16384 MB)\nFreeBSD/SMP: 1 package(s) x 4 core(s)\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	f, err := Host(context.Background(), tree, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.OS != fact.FreeBSD || f.Release.Short() != "14.1" || f.CPU.Count != 4 || f.Memory.Real != 16<<30 {
		t.Errorf("%s %s, %d CPUs, %d bytes", f.OS, f.Release, f.CPU.Count, f.Memory.Real)
	}
}

func TestTreeCannotBeLeft(t *testing.T) {
	dir := writeTree(t, map[string]string{"etc/rc.conf": "a=1\n", "usr/local/etc/sysctl.conf": "kern.y=1\n"})
	secret := writeTree(t, map[string]string{"secret": "hostname=stolen\n"})
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(filepath.Join(dir, "boot"), 0o755))
	must(os.Symlink("../../"+filepath.Base(secret)+"/secret", filepath.Join(dir, "boot/loader.conf")))
	must(os.Symlink(filepath.Join(secret, "secret"), filepath.Join(dir, "etc/rc.conf.local")))
	must(os.Symlink("/usr/local/etc/sysctl.conf", filepath.Join(dir, "etc/sysctl.conf")))
	f := inspectTree(t, dir, "14.3")
	for _, s := range f.Settings {
		if s.Name == "hostname" {
			t.Errorf("read outside the tree: %+v", s)
		}
	}
	if v, _ := f.Value("kern.y"); v != "1" {
		t.Error("an absolute link is one inside the tree")
	}
	for _, s := range f.Sources {
		if s.Name == "/boot/loader.conf" && s.Status == fact.StatusUnreadable {
			return
		}
	}
	t.Errorf("the link that leaves is not reported: %+v", f.Sources)
}

func TestNothingRecognisable(t *testing.T) {
	tree, err := filehost.OpenTree(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if f, err := Host(context.Background(), tree, Options{}); err == nil {
		t.Errorf("an empty directory gave %+v", f)
	}
	if f, err := Host(context.Background(), tree, Options{Release: release.MustParse("14.3")}); err != nil || f.OS != fact.FreeBSD {
		t.Errorf("a release tells the system: %v", err)
	}
}

// configTrees lists the directories of the archive that hold a FreeBSD
// host's etc/.
func configTrees(t *testing.T) []string {
	t.Helper()
	var trees []string
	err := filepath.WalkDir(sharedtest.Dir(t, "data", "netbenches"), func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "etc" && strings.Contains(p, "configs") {
			trees = append(trees, filepath.Dir(p))
		}
		return err
	})
	if err != nil || len(trees) < 50 {
		t.Fatalf("%d configuration trees in the archive, %v", len(trees), err)
	}
	return trees
}

// TestNetbenchesTrees reads every configuration of the public archive.
func TestNetbenchesTrees(t *testing.T) {
	for _, dir := range configTrees(t) {
		f := inspectTree(t, dir, "12.4")
		if len(f.Settings) == 0 {
			t.Errorf("%s: nothing read", dir)
		}
		for _, s := range f.Sources {
			if s.Status == fact.StatusUnreadable || s.Status == fact.StatusPartial {
				t.Errorf("%s: %+v", dir, s)
			}
		}
		for _, p := range f.Problems {
			t.Errorf("%s: %s:%d %s: %s", dir, p.File, p.Line, p.Text, p.Message)
		}
	}
}

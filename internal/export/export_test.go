package export

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"linerate/internal/labtest"
	"linerate/internal/plan"
	"linerate/internal/setting"
)

// step is a setting whose texts try to leave their comments and quotes.
func step(m setting.Mechanism, os, name, device, value string) plan.Step {
	file := plan.PlaceOf(os, m)
	return plan.Step{Name: name, Mechanism: m, Device: device, Value: value, Where: plan.Where{File: file, Runtime: true},
		Reason: "Because it's ${short}; {{ 7 * 7 }} and \"quoted\" ''twice''.\nrm -rf /", Formula: "2 × 5 = 10", Evidence: plan.Evidence{Kind: plan.Arithmetic, Text: "it adds up"}}
}

func sample(t *testing.T, os string) plan.Plan {
	t.Helper()
	p := plan.Plan{OS: os, Release: "6.12.1", Role: "web", Settings: []plan.Step{
		step(setting.Sysctl, os, "net.core.somaxconn", "", "4096"), step(setting.Sysctl, os, "net.ipv4.tcp_rmem", "", "4096 131072 6291456"), step(setting.Sysctl, os, "net.ipv4.tcp_congestion_control", "", "bbr"),
	}}
	if os == "linux" {
		last := step(setting.Sysctl, os, "net.core.only_now", "", "1")
		last.Where = plan.Where{Runtime: true}
		p.Settings = append(p.Settings, step(setting.Module, os, "tcp_bbr", "", "loaded"), step(setting.ModParam, os, "nf_conntrack/hashsize", "", "65536"), step(setting.Link, os, "mtu", "eth0", "9000"), step(setting.Governor, os, "cpu0", "", "performance"), last)
	} else {
		p.Release = "14.3-RELEASE"
		p.Settings[0].Instead = []plan.Removal{{File: "/etc/sysctl.conf", Line: 2, Text: "kern.ipc.maxsockbuf = 2097152 # {{ 7 * 7 }} (old)", Reason: "replaced"}}
		p.Remove = []plan.Removal{{File: "/etc/rc.conf", Line: 1, Text: `a="YES"; b="NO"`, Reason: "two in one line"}}
		p.Settings = append(p.Settings, step(setting.RC, os, "pf_enable", "", "YES"), step(setting.Loader, os, "net.isr.maxthreads", "", "-1"))
	}
	p, err := plan.Seal(p)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func written(t *testing.T, os, form string) string {
	t.Helper()
	text, err := Write(sample(t, os), form)
	if err != nil {
		t.Fatal(os, form, err)
	}
	return text
}

// want are the plan's files by their paths.
func want(t *testing.T, os string) map[string]string {
	t.Helper()
	files, err := plan.Render(sample(t, os), nil)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range files {
		all[f.Path] = f.Content
	}
	return all
}

// settings are the lines NAME=VALUE of a text, comments left out.
func settings(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(name, "#") {
			all[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return all
}

func TestSysctlD(t *testing.T) {
	text := written(t, "linux", "sysctl.d")
	got := settings(text)
	if len(got) != 3 || got["net.ipv4.tcp_rmem"] != "4096 131072 6291456" || got["net.core.somaxconn"] != "4096" {
		t.Errorf("%v", got)
	}
	for _, want := range []string{"# Because it's ${short};", "# 2 × 5 = 10", "Not in this form:\n#   module tcp_bbr = loaded", "#   net.core.only_now = 1 (now, until the next boot)"} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
}

func TestRCConf(t *testing.T) {
	got := settings(written(t, "freebsd", "rc.conf"))
	if len(got) != 1 || got["pf_enable"] != `"YES"` {
		t.Errorf("%v", got)
	}
	if _, err := Write(sample(t, "linux"), "rc.conf"); err == nil || !strings.Contains(err.Error(), "is for freebsd") {
		t.Error(err)
	}
	if _, err := Write(sample(t, "linux"), "chef"); err == nil {
		t.Error("an unknown form is written")
	}
}

// TestFilesComeThrough: forms that carry files carry the plan's, byte for byte.
func TestFilesComeThrough(t *testing.T) {
	var cloud struct {
		Files []struct{ Path, Permissions, Content string } `yaml:"write_files"`
		Run   [][]string                                    `yaml:"runcmd"`
	}
	if err := yaml.Unmarshal([]byte(written(t, "linux", "cloud-init")), &cloud); err != nil {
		t.Fatal(err)
	}
	all := want(t, "linux")
	if len(cloud.Files) != len(all) || len(all) != 5 || fmt.Sprint(cloud.Run) != "[[modprobe -a tcp_bbr] [sysctl -p /etc/sysctl.d/90-linerate.conf]]" {
		t.Errorf("%d files of %d; %v", len(cloud.Files), len(all), cloud.Run)
	}
	for _, f := range cloud.Files {
		if f.Content != all[f.Path] || f.Permissions != "0644" {
			t.Errorf("%s %s:\n%s\nwant\n%s", f.Path, f.Permissions, f.Content, all[f.Path])
		}
	}
}

// TestNixOS: numbers are numbers, text is escaped, every brace and string ends.
func TestNixOS(t *testing.T) {
	text := written(t, "linux", "nixos")
	for _, want := range []string{
		`"net.core.somaxconn" = lib.mkOverride 90 4096;`, `"net.ipv4.tcp_rmem" = lib.mkOverride 90 "4096 131072 6291456";`, "boot.kernelModules = [\n", "    \"tcp_bbr\"\n", "''${short}", "#   net.core.only_now",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %s:\n%s", want, text)
		}
	}
	code := regexp.MustCompile(`(?m)^\s*#.*$`).ReplaceAllString(text, "")
	if strings.Count(code, "{") != strings.Count(code, "}") || strings.Count(code, "[") != strings.Count(code, "]") {
		t.Errorf("braces:\n%s", text)
	}
	if path, err := exec.LookPath("nix-instantiate"); err == nil {
		c := exec.Command(path, "--parse", "-")
		c.Stdin = strings.NewReader(text)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
}

// TestAnsible runs the playbook by ansible-core: check mode promises what the run then
// does, the run writes the plan's files, and then there is nothing to change.
func TestAnsible(t *testing.T) {
	t.Parallel()
	labtest.Program(t, "ansible-playbook")
	dir := t.TempDir()
	book, root := filepath.Join(dir, "book.yml"), filepath.Join(dir, "root")
	text := written(t, "freebsd", "ansible")
	if err := os.WriteFile(book, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(changed bool, flags ...string) {
		t.Helper()
		c := exec.Command("ansible-playbook", append([]string{"-i", "localhost,", "-c", "local", "-e", "linerate_root=" + root, "-e", "ansible_become=false", "-e", "ansible_python_interpreter={{ ansible_playbook_python }}", book}, flags...)...)
		c.Env = append(os.Environ(), "HOME="+dir, "ANSIBLE_NOCOLOR=1", "LC_ALL=C.UTF-8", "ANSIBLE_LOCALHOST_WARNING=false")
		out, err := c.CombinedOutput()
		if err != nil || strings.Contains(string(out), "changed=0") == changed || !strings.Contains(string(out), "failed=0") {
			t.Fatalf("%v: %v\n%s", flags, err, out)
		}
	}
	own := filepath.Join(root, "etc/sysctl.conf")
	if err := os.MkdirAll(filepath.Dir(own), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, []byte("kern.a=1\nkern.ipc.maxsockbuf = 2097152 # {{ 7 * 7 }} (old)\nkern.ipc.maxsockbuf = 2097152\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const theirs = "pf_enable=\"YES\"\n"
	if err := os.WriteFile(filepath.Join(root, plan.FreeBSDRC), []byte(theirs), 0o644); err != nil {
		t.Fatal(err)
	}
	run(true, "--check")
	if _, err := os.Stat(filepath.Join(root, "boot")); err == nil {
		t.Error("check mode wrote something")
	}
	run(true)
	if got, err := os.ReadFile(own); err != nil || string(got) != "kern.a=1\nkern.ipc.maxsockbuf = 2097152\n" {
		t.Errorf("%v: the line that is better gone, and no other, goes:\n%s", err, got)
	}
	if !strings.Contains(text, "Better gone, of the host's own files:\n#   /etc/rc.conf:1: a=\"YES\"; b=\"NO\" (two in one line)") {
		t.Errorf("a line that holds more is not left to hands:\n%s", text)
	}
	for at, content := range want(t, "freebsd") {
		switch at {
		case plan.FreeBSDSysctl: // made by the run: apply knows it as linerate's
			content = plan.Marker + "\n" + body(content) + blockEnd + "\n"
		case plan.FreeBSDRC: // somebody else's: it keeps its lines
			content = theirs + plan.Marker + "\n" + body(content) + blockEnd + "\n"
		}
		if got, err := os.ReadFile(filepath.Join(root, at)); err != nil || string(got) != content {
			t.Errorf("%s: %v\n%s\nwant\n%s", at, err, got, content)
		}
	}
	run(false, "--check", "--diff")
}

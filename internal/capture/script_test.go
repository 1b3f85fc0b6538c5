package capture

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/host"
	"linerate/internal/host/filehost"
	"linerate/internal/labtest"
)

// shells are those a base system may have as sh.
var shells = [][]string{{"sh"}, {"dash"}, {"bash", "--posix"}, {"busybox", "sh"}, {"ksh"}}

// here reports a program of this machine. Only gawk may be missing where all
// is required: installed, it would take awk's name.
func here(t *testing.T, program string) bool {
	t.Helper()
	_, err := exec.LookPath(program)
	if err != nil && program != "gawk" {
		labtest.Without(t, "%v", err)
	}
	return err == nil
}

func TestScriptIsValidInEveryShell(t *testing.T) {
	file := filepath.Join(t.TempDir(), "capture.sh")
	if err := os.WriteFile(file, []byte(Script()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, sh := range shells {
		if !here(t, sh[0]) {
			continue
		}
		if out, err := exec.Command(sh[0], append(sh[1:], "-n", file)...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", sh, err, out)
		}
	}
	if strings.Contains(Script(), "@") && strings.Contains(Script(), "@FREEBSD") {
		t.Error("a part of the script is missing")
	}
}

// cutDown is a directory with some of this machine's commands.
func cutDown(t *testing.T, commands ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, c := range commands {
		path, err := exec.LookPath(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, c)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// onPath is the script where no other commands are.
func onPath(dir string) string {
	return regexp.MustCompile(`(?m)^PATH=.*`).ReplaceAllLiteralString(Script(), "PATH="+dir)
}

// TestCutDown: a system without what a bundle is made of is told all that it lacks.
func TestCutDown(t *testing.T) {
	dir := cutDown(t, "uname", "date", "tr", "sed", "mktemp", "head", "cut")
	cmd := exec.Command("/bin/sh", "-s", "--", "-o", filepath.Join(dir, "b.tar.gz"))
	cmd.Stdin = strings.NewReader(onPath(dir))
	said, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(said), "capture: this system is cut down: it lacks awk find grep, and") {
		t.Errorf("%v: %s", err, said)
	}
}

// TestWithoutTar: the bundle of a system without tar(1) and gzip(1) has all that it
// would have with them.
func TestWithoutTar(t *testing.T) {
	dir := cutDown(t, "sh", "awk", "sed", "mktemp", "head", "tr", "cut", "find", "uname", "date", "mkdir", "cat", "id", "rm", "grep")
	bundle := func(tools string) map[string]string {
		out := filepath.Join(t.TempDir(), "b.tar")
		text := strings.Replace(onPath(tools), "archive() {\n", `archive() {
	mkdir -p "$dir/b/files/etc/`+strings.Repeat("long/", 20)+`" && printf 'no end' >"$dir/b/files/etc/`+strings.Repeat("long/", 20)+`name"
	printf 'caf\303\251\001\n' >"$dir/b/out/bytes" && : >"$dir/b/out/nothing"
`, 1)
		cmd := exec.Command("/bin/sh", "-s", "--", "-o", "-")
		cmd.Stdin = strings.NewReader(text)
		data, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(out, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := filehost.OpenBundle(out); err != nil {
			t.Fatal(err)
		}
		return entries(t, data)
	}
	bare := bundle(dir)
	for _, c := range []string{"tar", "gzip"} {
		path, err := exec.LookPath(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, c)); err != nil {
			t.Fatal(err)
		}
	}
	whole := bundle(dir)
	if len(whole) < 20 || len(bare) != len(whole) {
		t.Errorf("%d entries without tar, %d with", len(bare), len(whole))
	}
	for name, text := range map[string]string{"files/etc/" + strings.Repeat("long/", 20) + "name": "no end\n", "out/bytes": "caf\303\251?\n", "out/nothing": ""} {
		if got, ok := bare[name]; !ok || got != text {
			t.Errorf("%s: %q, %v", name, got, ok)
		}
	}
	for _, steady := range []string{"files/etc/os-release", "files/proc/version"} {
		if bare[steady] == "" || bare[steady] != whole[steady] {
			t.Errorf("%s: %q, with tar %q", steady, bare[steady], whole[steady])
		}
	}
}

// entries are the files of an archive, by name.
func entries(t *testing.T, data []byte) map[string]string {
	t.Helper()
	r := io.Reader(bytes.NewReader(data))
	if gz, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
		r = gz
	}
	files := map[string]string{}
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			text, err := io.ReadAll(tr)
			if err != nil {
				t.Fatal(err)
			}
			files[strings.TrimPrefix(h.Name, "./")] = string(text)
		}
	}
}

// run runs the script in a shell with some commands put before the system's.
func run(t *testing.T, sh []string, fake map[string]string) *filehost.Bundle {
	t.Helper()
	dir := t.TempDir()
	for name, text := range fake {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	text := strings.Replace(Script(), "PATH=/sbin:", "PATH="+dir+":/sbin:", 1)
	file, out := filepath.Join(dir, "capture.sh"), filepath.Join(dir, "b.tar.gz")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(sh[0], append(sh[1:], file, "-o", out)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	if said, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(said), "wrote") {
		t.Fatalf("%v: %v\n%s", sh, err, said)
	}
	info, err := os.Stat(out)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the bundle is %v, want it private; %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "linerate.*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	b, err := filehost.OpenBundle(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A FreeBSD host, as far as its commands go.
var fakeFreeBSD = map[string]string{
	"uname": `case $1 in -s) echo FreeBSD;; -n) echo "fw; rm -rf";; *) echo FreeBSD fw 14.3-RELEASE;; esac`,
	"sysctl": `case $1 in
-a) printf 'kern.ostype: FreeBSD\nkern.msgbuf: secret: boot\nmore of it\nkern.osrelease: 14.3-RELEASE\nkern.geom.eli.passphrase: hunter2\nnet.inet.tcp.tso: 1\n';;
-at) printf 'kern.ostype: string\n';;
*) echo "sysctl: illegal option" >&2; exit 1;; esac`,
	"kenv":   `echo 'kern.geom.eli.passphrase="hunter2"'; echo 'kern.hz="100"'`,
	"pfctl":  `echo "pfctl: /dev/pf: No such file or directory" >&2; exit 1`,
	"vmstat": `[ "$1" = -i ] && printf 'interrupt total rate\nirq265: em0:rxq0 10 1\nirq266: em0:rxq1 10 1\n'; exit 0`,
	"cpuset": `echo "irq $3 mask: 1"`,
	"kldstat": `case $*:$4$3 in
"-q -m dummynet:dummynet"|"-q -m ipfw:ipfw"|"-q -m pf:pf") exit 0;;
-q*) exit 1;;
*) exit 127;; esac`,
	"ipfw": `case $1 in
nat) echo "must not be asked: it makes the kernel complain" >&2; exit 99;;
*) echo "65535 0 0 deny ip from any to any";; esac`,
}

func TestFreeBSDCapture(t *testing.T) {
	if runtime.GOOS != fact.Linux {
		t.Skip("fakes another system's commands")
	}
	ctx := context.Background()
	for _, sh := range [][]string{{"sh"}, {"busybox", "sh"}} {
		// A busybox that prefers its own applets cannot be given fakes.
		if own, err := exec.Command(sh[0], append(sh[1:], "-c", "command -v uname")...).Output(); err != nil || !strings.HasPrefix(string(own), "/") {
			continue
		}
		t.Run(sh[0], func(t *testing.T) {
			if exec.Command(sh[0], append(sh[1:], "-c", "PATH=/nowhere; uname -s")...).Run() == nil {
				t.Skip("this shell has a uname of its own, which cannot be faked")
			}
			b := run(t, sh, fakeFreeBSD)
			if b.OS() != fact.FreeBSD || b.Origin().Taken == "" {
				t.Errorf("%s %+v", b.OS(), b.Origin())
			}
			text := output(t, b, "sysctl-a")
			if want := "kern.ostype: FreeBSD\n\n\nkern.osrelease: 14.3-RELEASE\nkern.geom.eli.passphrase: REDACTED\nnet.inet.tcp.tso: 1\n"; text != want {
				t.Errorf("sysctl -a became %q", text)
			}
			if text := output(t, b, "kenv"); strings.Contains(text, "hunter2") || !strings.Contains(text, `kern.hz="100"`) {
				t.Errorf("kenv became %q", text)
			}
			if _, err := b.Output(ctx, host.QueryOf(fact.FreeBSD, "pfctl-si")); err == nil || !strings.Contains(err.Error(), "/dev/pf") {
				t.Errorf("pfctl: %v", err)
			}
			if _, err := b.Output(ctx, host.QueryOf(fact.FreeBSD, "kldstat")); err == nil {
				t.Error("a missing command is not recorded")
			}
			if _, err := b.Output(ctx, host.QueryOf(fact.FreeBSD, "ipfw-nat")); !errors.Is(err, host.ErrNoCommand) {
				t.Errorf("ipfw nat without its module: %v", err)
			}
			if text := output(t, b, "ipfw-list"); !strings.Contains(text, "65535") {
				t.Errorf("ipfw list with its module: %q", text)
			}
			if text, err := b.Output(ctx, host.IRQQuery(266)); err != nil || !strings.Contains(string(text), "mask: 1") {
				t.Errorf("affinity %q, %v", text, err)
			}
			secrets := 0
			for _, l := range b.LeftOut() {
				if l.What == "sysctl-a" || l.What == "kenv" {
					secrets++
				}
			}
			if secrets != 2 {
				t.Errorf("left out %+v", b.LeftOut())
			}
		})
	}
}

func output(t *testing.T, b *filehost.Bundle, id string) string {
	t.Helper()
	text, err := b.Output(context.Background(), host.QueryOf(fact.FreeBSD, id))
	if err != nil {
		t.Errorf("%s: %v", id, err)
	}
	return string(text)
}

func TestRunOnThisMachine(t *testing.T) {
	if runtime.GOOS != fact.Linux && runtime.GOOS != fact.FreeBSD {
		t.Skip("neither FreeBSD nor Linux")
	}
	out := filepath.Join(t.TempDir(), "b.tar.gz")
	var talk bytes.Buffer
	if err := Run(context.Background(), out, nil, &talk); err != nil {
		t.Fatalf("%v: %s", err, talk.String())
	}
	b, err := filehost.OpenBundle(out)
	if err != nil || b.OS() != runtime.GOOS {
		t.Fatalf("%v, %v", b, err)
	}
	if err := Run(context.Background(), filepath.Join(t.TempDir(), "none", "b.tar.gz"), nil, &talk); err == nil || !strings.Contains(talk.String(), "cannot write") {
		t.Errorf("%v: %s", err, talk.String())
	}
}

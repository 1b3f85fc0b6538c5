package audit_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"linerate/internal/audit"
	"linerate/internal/fact"
	"linerate/internal/fact/freebsd"
	"linerate/internal/sharedtest"
)

// captured reads a test file captured on a real FreeBSD 14.0.
func captured(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(sharedtest.Dir(t, "data", "freebsd-14.0"), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fw14 returns the facts of that host: its files, and its running values as booted; replace swaps
// files.
func fw14(t testing.TB, replace map[string]string) *fact.Facts {
	t.Helper()
	files := map[string]string{
		"/boot/loader.conf": captured(t, "loader.conf.txt"),
		"/etc/sysctl.conf":  captured(t, "sysctl.conf.txt"),
		"/etc/rc.conf":      captured(t, "rc.conf.txt"),
	}
	for name, text := range replace {
		files[name] = text
	}
	f := tree(t, "14.0", files)
	types := freebsd.ParseTypes(captured(t, "01-default.sysctl-at.txt"))
	boot := freebsd.ParseNames(captured(t, "01-default.sysctl-aNT.txt"))
	runtime := freebsd.ParseNames(captured(t, "01-default.sysctl-aNW.txt"))
	values := freebsd.ParseValues(captured(t, "01-default.sysctl-a.txt"), types)
	lines := f.Lines()
	f.Settings = nil // inspect asks the kernel first, then reads the files
	freebsd.AddValues(f, values, types, boot, runtime)
	freebsd.AddMachine(f, values)
	for _, m := range []fact.Stage{fact.Loader, fact.Sysctl, fact.RCConf} {
		f.AddLines(slices.DeleteFunc(slices.Clone(lines), func(l fact.Line) bool { return l.Stage != m }))
	}
	f.Normalise()
	return f
}

// on returns the findings at a line of a file.
func on(r *audit.Report, file string, line int) []audit.Finding {
	var found []audit.Finding
	for _, f := range r.Findings {
		if f.File == file && f.Line == line {
			found = append(found, f)
		}
	}
	return found
}

// TestAuditSaysWhatTheKernelSaid audits the lines that the host booted with, some of them wrong on
// purpose, and compares with the kernel's messages about them.
func TestAuditSaysWhatTheKernelSaid(t *testing.T) {
	for _, live := range []bool{true, false} {
		f := fw14(t, nil)
		if !live {
			f = treeOnly(t)
		}
		r := run(t, f, "router")
		said, values := captured(t, "sysctl-apply.txt"), captured(t, "01-default.sysctl-a.txt")
		for _, l := range f.Lines() {
			if l.Stage != fact.Sysctl {
				continue
			}
			// rc.d/sysctl runs with -i, which suppresses messages about names that do not exist.
			complained := strings.Contains(said, "'"+l.Name+"'") || !strings.Contains(values, "\n"+l.Name+": ")
			if rejected := hasKind(on(r, l.File, l.Number), audit.Misplaced, audit.Unknown, audit.Removed, audit.Renamed, audit.Range, audit.Syntax); rejected != complained {
				t.Errorf("live %v: %s: the kernel complained %v, the audit %v: %+v", live, l.Text, complained, rejected, on(r, l.File, l.Number))
			}
		}
		// The loader accepts anything; the running value shows what it did.
		m := find(r, "LR-MISPLACED", "net.inet.tcp.hostcache.enable")
		if len(m) != 1 || m[0].File != "/boot/loader.conf" || m[0].Line != 6 || m[0].Action != audit.Move {
			t.Errorf("live %v: hostcache.enable in loader.conf: %+v", live, m)
		}
		if d := find(r, "", ""); hasKind(d, audit.Drift) {
			t.Errorf("live %v: drift on a host just booted: %+v", live, d)
		}
	}
}

func treeOnly(t testing.TB) *fact.Facts {
	return tree(t, "14.0", map[string]string{
		"/boot/loader.conf": captured(t, "loader.conf.txt"),
		"/etc/sysctl.conf":  captured(t, "sysctl.conf.txt"),
		"/etc/rc.conf":      captured(t, "rc.conf.txt"),
	})
}

func hasKind(found []audit.Finding, kinds ...audit.Kind) bool {
	return slices.ContainsFunc(found, func(f audit.Finding) bool { return slices.Contains(kinds, f.Kind) })
}

var wrongWrite = regexp.MustCompile(`(?m)^# sysctl (\S+?)=(\S+)\n((?:.*\n)*?)rc=(\d)$`)

// TestAuditOfWrongWrites: for every write that was tried on the host, the audit of a sysctl.conf with
// that line agrees with the kernel's answer.
func TestAuditOfWrongWrites(t *testing.T) {
	answers := map[string]audit.Kind{
		"Invalid argument": audit.Range, "read only tunable": audit.Misplaced,
		"unknown oid": audit.Unknown, "No such process": audit.Unknown,
	}
	tried := wrongWrite.FindAllStringSubmatch(captured(t, "wrong-writes.txt"), -1)
	if len(tried) < 7 {
		t.Fatalf("only %d writes found", len(tried))
	}
	for _, w := range tried {
		line := w[1] + "=" + w[2]
		r := run(t, fw14(t, map[string]string{"/etc/sysctl.conf": line}), "endpoint")
		found := on(r, "/etc/sysctl.conf", 1)
		bad := hasKind(found, audit.Range, audit.Misplaced, audit.Unknown, audit.Removed, audit.Renamed, audit.Syntax)
		if w[4] == "0" && bad {
			t.Errorf("%s: accepted by the kernel, but %+v", line, found)
		}
		if w[4] == "0" {
			continue
		}
		for answer, kind := range answers {
			if strings.Contains(w[3], answer) && !hasKind(found, kind) {
				t.Errorf("%s: the kernel said %q; want a finding %s, have %+v", line, answer, kind, found)
			}
		}
	}
}

// TestDriftAgainstLaterCapture: after recvbuf_max was set by hand, the running value differs from the
// file.
func TestDriftAgainstLaterCapture(t *testing.T) {
	f := fw14(t, nil)
	setLive(f, "net.inet.tcp.recvbuf_max", "8388608")
	r := run(t, f, "endpoint")
	if d := find(r, "LR-DRIFT", "net.inet.tcp.recvbuf_max"); len(d) != 1 || d[0].Line != 2 {
		t.Errorf("drift: %+v", d)
	}
}

// TestKernelRefuses: values that the kernel's handlers refuse with "Invalid argument", and neighbours
// that they accept; 0 does not disable anything where the handler's minimum is greater.
func TestKernelRefuses(t *testing.T) {
	for line, refused := range map[string]bool{
		"vm.dirty_bytes=0": true, "vm.dirty_bytes=4096": true, "vm.dirty_bytes=8192": false,
		"vm.dirty_background_bytes=0": true, "vm.dirty_background_bytes=1": false,
		"kernel.modules_disabled=0": true, "kernel.modules_disabled=1": false, "kernel.kexec_load_disabled=0": true,
		"kernel.hung_task_panic=2": true, "kernel.keys.maxkeys=0": true, "kernel.keys.root_maxbytes=1": false,
		"kernel.threads-max=1073741824": true, "fs.nfs.nlm_timeout=2": true, "fs.nfs.nlm_timeout=20": false,
	} {
		name, _, _ := strings.Cut(line, "=")
		r := run(t, tree(t, "6.12", map[string]string{"/etc/sysctl.d/60-x.conf": line}), "web")
		if got := len(find(r, "LR-RANGE", name)) == 1; got != refused {
			t.Errorf("%s: refused %v, want %v: %+v", line, got, refused, r.Findings)
		}
	}
}

package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"linerate/internal/cli"
	"linerate/internal/labtest"
	"linerate/internal/server"
	"linerate/internal/setting"
)

// serversOf are the files of the machine's own mail and web servers, which a study must not touch.
var serversOf = []string{"/etc/postfix", "/etc/nginx", "/etc/aliases", "/etc/aliases.db", "/var/spool/postfix", "/var/lib/postfix", "/var/mail", "/var/log/mail.log", "/var/log/nginx", "/run/nginx.pid"}

// ownServers summarises the files of the machine's own servers: names, modes, owners, and the
// contents where readable.
func ownServers(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, root := range serversOf {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error { // missing files are skipped
			if err != nil {
				return nil
			}
			info, err := d.Info()
			if err != nil {
				t.Error(err)
				return nil
			}
			own, _ := info.Sys().(*syscall.Stat_t)
			fmt.Fprintf(&b, "%s %v %d:%d", path, info.Mode(), own.Uid, own.Gid)
			if info.Mode().IsRegular() {
				data, err := os.ReadFile(path)
				fmt.Fprintf(&b, " %x %v", sha256.Sum256(data), err)
			}
			b.WriteByte('\n')
			return nil
		})
	}
	return b.String()
}

// serversListen lists the sockets in the machine's own network namespace that listen on the
// ports that studies' servers use.
func serversListen(t *testing.T) (out string) {
	t.Helper()
	for _, file := range []string{"/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"} {
		data, _ := os.ReadFile(file)
		for line := range strings.Lines(string(data)) {
			f := strings.Fields(line)
			if len(f) < 4 || f[3] != "0A" {
				continue
			}
			for _, port := range []int{setting.SMTPPort, setting.HTTPPort, setting.HTTPSPort} {
				if strings.HasSuffix(f[1], fmt.Sprintf(":%04X", port)) {
					out += f[1] + "\n"
				}
			}
		}
	}
	return out
}

// disks counts the loop devices whose image is an unnamed file (O_TMPFILE).
func disks(t *testing.T) (n int) {
	t.Helper()
	all, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if name, err := os.ReadFile(f); err == nil && strings.HasPrefix(string(name), "/var/tmp/#") {
			n++
		}
	}
	return n
}

// below returns the descendants of a process, each as pid and start time because pids are reused.
func below(pid int) map[string]bool {
	children := map[int][]string{}
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(f) < 20 || f[0] == "Z" {
			continue
		}
		parent, _ := strconv.Atoi(f[1])
		children[parent] = append(children[parent], filepath.Base(filepath.Dir(path))+" "+f[19])
	}
	out := map[string]bool{}
	var walk func(int)
	walk = func(pid int) {
		for _, c := range children[pid] {
			out[c] = true
			n, _ := strconv.Atoi(strings.Fields(c)[0])
			walk(n)
		}
	}
	walk(pid)
	return out
}

// alive reports whether a process returned by below still runs.
func alive(process string) bool {
	pid, start, _ := strings.Cut(process, " ")
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	return len(f) > 19 && f[0] != "Z" && f[19] == start
}

// eventually waits until a condition holds, and fails the test if it does not.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	if !labtest.Eventually(is) {
		t.Fatalf("not within %v: %s", labtest.Patience, what)
	}
}

const leavesFiles = `name: leaves
question: What is left?
workload: {files: {count: 500, fsync: true, burst: 20}}
variants: [{name: a}, {name: b, settings: [{filesystem: {type: ext4, options: noatime}}]}]
parts: [{seconds: 1, warmup: 0, blocks: 50}]
metrics: [{metric: requests_per_second, primary: true}]
`

const leavesMail = `name: leaves
question: What is left?
workload: {smtp: {messages: [2kB], accounts: 20, sessions: 4, burst: 8}}
variants: [{name: a}, {name: b, settings: [{filesystem: {type: tmpfs}}]}]
parts: [{seconds: 0.5, warmup: 0, blocks: 50}]
metrics: [{metric: settled_per_second, primary: true}]
`

// aStudyOfServersLeavesNothing: a study that is killed or interrupted, while its disks are set
// up or during its trials, leaves no process (and so none of its unnamed namespaces), no disk
// and no file, and the machine's own servers are unchanged.
func aStudyOfServersLeavesNothing(t *testing.T) {
	labtest.Need(t)
	if err := server.MailInstalled(); err != nil {
		labtest.Lacking(t, "%v", err)
	}
	for _, c := range []struct {
		name, study string
		by          syscall.Signal
		disks       bool // strike when a disk is set up, otherwise when trials are recorded
	}{
		{"files, killed", leavesFiles, syscall.SIGKILL, true},
		{"mail, killed", leavesMail, syscall.SIGKILL, false},
		{"mail, interrupted", leavesMail, syscall.SIGINT, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			file, out, tmp := filepath.Join(dir, "s.yaml"), filepath.Join(dir, "out"), filepath.Join(dir, "tmp")
			if err := os.WriteFile(file, []byte(c.study), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(tmp, 0o755); err != nil {
				t.Fatal(err)
			}
			own, listen, up := ownServers(t), serversListen(t), disks(t)
			cmd := exec.Command("linerate", "study", "run", file, "--out", out, "--seed", "1")
			cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "LINERATE_LEDGER="+filepath.Join(dir, "ledger.db"))
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() }) // if the test failed before
			if c.disks {
				eventually(t, "a disk", func() bool { return disks(t) > up })
			} else {
				recorded(t, out, 3)
			}
			started := below(cmd.Process.Pid)
			if now := serversListen(t); now != listen {
				t.Errorf("sockets listening in the machine's own namespace:\n%s, before the study:\n%s", now, listen)
			}
			if err := cmd.Process.Signal(c.by); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); c.by == syscall.SIGINT && code != cli.ExitInterrupted {
				t.Errorf("exit %d, want %d", code, cli.ExitInterrupted)
			}
			for p := range started {
				eventually(t, "the end of process "+p, func() bool { return !alive(p) })
			}
			eventually(t, "the end of its disks", func() bool { return disks(t) <= up })
			if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
				t.Errorf("left in its temporary directory: %v, %v", left, err)
			}
			if now := ownServers(t); now != own {
				t.Errorf("files of the machine's own servers:\n%s, before the study:\n%s", now, own)
			}
		})
	}
}

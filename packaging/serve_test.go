package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/labtest"
)

// installed writes a file of the packages to a directory, with some texts replaced.
func installed(t *testing.T, name string, replace ...string) string {
	t.Helper()
	text, err := os.ReadFile("files/" + name)
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(at, []byte(strings.NewReplacer(replace...).Replace(string(text))), 0o644); err != nil {
		t.Fatal(err)
	}
	return at
}

// TestServeUnit: systemd accepts the unit, nothing enables it, and it is as sandboxed as stated.
func TestServeUnit(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		labtest.Without(t, "%v", err)
		return
	}
	at := installed(t, "linerate-serve.service", "/usr/bin/linerate", "/bin/sh")
	if out, err := exec.Command("systemd-analyze", "verify", "--man=no", at).CombinedOutput(); err != nil || strings.Contains(string(out), "linerate-serve") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := exec.Command("systemd-analyze", "security", "--offline=true", "--threshold=25", at).CombinedOutput(); err != nil {
		t.Errorf("exposed more than 2.5 of 10: %v: %s", err, out)
	}
}

// rcSubr is the part of rc.subr(8) that the script needs: it prints what would be started.
const rcSubr = `load_rc_config() { . "$RC_CONF"; }
run_rc_command() {
	eval "on=\$$rcvar"
	case $on in [Yy][Ee][Ss]) ;; *) echo "$name is off"; return 0 ;; esac
	$start_precmd && echo "$command $command_args"
}
`

// TestServeScript runs the rc.d script in several shells: it is off by default, creates a token once, and keeps
// the token out of the log.
func TestServeScript(t *testing.T) {
	for _, sh := range [][]string{{"dash"}, {"bash", "--posix"}, {"busybox", "sh"}, {"ksh"}, {"mksh"}} {
		if _, err := exec.LookPath(sh[0]); err != nil {
			continue
		}
		t.Run(sh[0], func(t *testing.T) {
			dir := t.TempDir()
			write := func(name, text string) string {
				p := filepath.Join(dir, name)
				if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				return p
			}
			script := installed(t, "linerate_serve", "/etc/rc.subr", write("rc.subr", rcSubr), "/var/db/linerate-serve", filepath.Join(dir, "state"))
			run := func(conf string) string {
				t.Helper()
				cmd := exec.Command(sh[0], append(sh[1:], script, "start")...)
				cmd.Env = append(os.Environ(), "RC_CONF="+write("rc.conf", conf))
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				return string(out)
			}
			token := func() string {
				text, _ := os.ReadFile(filepath.Join(dir, "state/token"))
				return string(text)
			}
			if out := run(""); out != "linerate_serve is off\n" || token() != "" {
				t.Errorf("by default: %q", out)
			}
			out := run("linerate_serve_enable=YES\nlinerate_serve_args='--listen 127.0.0.1:8100'\n")
			for _, want := range []string{"/usr/sbin/daemon -r -f -S -m 2 ", " --token-file " + filepath.Join(dir, "state/token"), " --listen 127.0.0.1:8100"} {
				if !strings.Contains(out, want) {
					t.Errorf("%q is not in %s", want, out)
				}
			}
			first := token()
			if run("linerate_serve_enable=YES\n"); len(first) != 48 || token() != first {
				t.Errorf("tokens %q, then %q", first, token())
			}
			if info, err := os.Stat(filepath.Join(dir, "state/token")); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info, err)
			}
		})
	}
}

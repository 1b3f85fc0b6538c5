package apply

import (
	"context"
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"linerate/internal/host/localhost"
	"linerate/internal/labtest"
	"linerate/internal/plan"
	"linerate/internal/setting"
)

//go:embed testdata/freebsd.sh
var freebsdCommands string

// fakeFreeBSD returns the agent as on FreeBSD, with fake FreeBSD commands: how the agent calls them, and how
// it handles their output, is tested for real.
func fakeFreeBSD(t *testing.T) (m Machine, root, fake string, env []string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the fake commands need Linux's")
	}
	root, fake = t.TempDir(), t.TempDir()
	for _, d := range []string{root + "/etc/rc.d", root + "/boot", root + "/var/db", fake + "/sysctl", fake + "/kld"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"sysctl/net.inet.ip.redirect": "1\n", "sysctl/net.inet.ip.forwarding": "0\n", "mtu": "1500\n", "lro": ",LRO\n", "states": "100000\n", "adaptive.start": "1234\n", "adaptive.end": "120000\n"} {
		if err := os.WriteFile(filepath.Join(fake, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	env = []string{"LINERATE_ROOT=" + root, "FAKE=" + fake}
	script := strings.Replace(Script(freebsdCommands), "OS=$(uname -s)", "OS=FreeBSD", 1)
	return OnWith(&localhost.Runner{Env: env}, script), root, fake, env
}

func freebsdPlan(t *testing.T) plan.Plan {
	t.Helper()
	set := func(m setting.Mechanism, device, name, was, value string) plan.Step {
		s := setTo(name, m, was, value)
		s.Device, s.Where.File, s.Reason = device, plan.PlaceOf("freebsd", m), "a test"
		s.Where.Runtime = m != setting.Loader
		return s
	}
	p, err := plan.Seal(plan.Plan{OS: "freebsd", Release: "14.3-RELEASE", Host: "fw1", Role: "firewall", Settings: []plan.Step{
		set(setting.Sysctl, "", "net.inet.ip.redirect", "1", "0"),
		set(setting.Offload, "em0", "lro", "on", "off"),
		set(setting.Link, "em0", "mtu", "1500", "9000"),
		set(setting.Module, "", "tcp_rack", "absent", "loaded"),
		set(setting.PFLimit, "", "states", "100000", "5000000"),
		set(setting.Loader, "", "net.pf.states_hashsize", "", "4194304"),
		set(setting.RC, "", "gateway_enable", "", "YES"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func all(t *testing.T, dirs ...string) string {
	t.Helper()
	var b strings.Builder
	for _, dir := range dirs {
		out, err := exec.Command("sh", "-c", `cd "$1" && find . -type f ! -path './var/*' | sort | while read -r f; do echo "$f $(tr '\n' '|' <"$f")"; done`, "sh", dir).Output()
		if err != nil {
			t.Fatal(err)
		}
		b.Write(out)
	}
	return b.String()
}

// rc runs a script as /etc/rc does: in a subshell that has the variables of rc.conf,
// which are read again on SIGALRM. A 14.0-STABLE that was not told to continued to
// forward packets in the boot that reverted gateway_enable.
const rc = `_rc_conf_loaded=true again=no script=$1
trap 'again=yes' ALRM
(set faststart; . "$script")
[ $again = yes ] || { echo "rc was not told to read its variables again"; exit 1; }`

// bootFreeBSD does what a boot runs.
func bootFreeBSD(t *testing.T, root string, env []string) {
	t.Helper()
	boot := exec.Command("/bin/sh", "-c", rc, "rc", filepath.Join(root, "etc/rc.d/linerate_revert"))
	boot.Env = append(os.Environ(), env...)
	if out, err := boot.CombinedOutput(); err != nil {
		t.Fatalf("boot: %v: %s", err, out)
	}
}

// TestFreeBSDTrial: loader variables are tried with nextboot(8), which the loader clears by itself: their
// file is written by confirm, never before.
func TestFreeBSDTrial(t *testing.T) {
	for name, c := range map[string]struct {
		comesUp bool
		why     string
	}{"it comes up": {true, ""}, "it does not come up": {false, "the boot that was to try it did not come up"}} {
		t.Run(name, func(t *testing.T) {
			m, root, fake, env := fakeFreeBSD(t)
			before := all(t, root, fake)
			p := freebsdPlan(t)
			ctx := context.Background()
			if got, err := Run(ctx, m, p, Options{Within: time.Minute, Trial: true, Say: t.Logf}); got != Pending || err != nil {
				t.Fatalf("apply: %s, %v", got, err)
			}
			// The host shuts down a moment after apply has answered.
			labtest.Eventually(func() bool { _, err := os.Stat(filepath.Join(fake, "shutdown")); return err == nil })
			if _, err := os.Stat(filepath.Join(root, plan.FreeBSDLoader)); err == nil {
				t.Error("the loader's file exists before the trial")
			}
			next, err := os.ReadFile(filepath.Join(root, "boot/nextboot.conf"))
			if err != nil || !strings.Contains(string(next), "nextboot_enable=\"YES\"\nlinerate.trial=\"000001-") || !strings.Contains(string(next), "\nnet.pf.states_hashsize=\"4194304\"\n") {
				t.Errorf("nextboot.conf: %q, %v", next, err)
			}
			if _, err := m.Confirm(ctx, p.Digest); err == nil || !strings.Contains(err.Error(), "has not been yet") {
				t.Errorf("confirmed before it was tried: %v", err)
			}
			if c.comesUp {
				if err := os.WriteFile(filepath.Join(fake, "kenv"), next, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			bootFreeBSD(t, root, env)
			_ = os.Remove(filepath.Join(fake, "kenv"))
			_ = os.Remove(filepath.Join(fake, "shutdown"))
			if _, err := os.Stat(filepath.Join(root, "boot/nextboot.conf")); err == nil {
				t.Error("nextboot.conf is left behind")
			}
			if !c.comesUp {
				st, _ := m.Status(ctx)
				if after := all(t, root, fake); after != before || st.State != "idle" || st.History[0].Why != c.why {
					t.Errorf("%+v; it left\n%s\nof\n%s", st, after, before)
				}
				return
			}
			// The boot lost pf's limit, which is in no file.
			if err := os.WriteFile(filepath.Join(fake, "states"), []byte("100000\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Confirm(ctx, p.Digest); err != nil {
				t.Fatal(err)
			}
			if text, err := os.ReadFile(filepath.Join(root, plan.FreeBSDLoader)); err != nil || !strings.Contains(string(text), `net.pf.states_hashsize="4194304"`) {
				t.Errorf("confirmed, and the loader's file is %q, %v", text, err)
			}
			st, err := m.Status(ctx)
			if past, ok := st.Current(); err != nil || !ok || len(st.Drift) != 0 {
				t.Errorf("status %+v, %v", st, err)
			} else if _, err := m.Rollback(ctx, past.ID); err != nil {
				t.Fatal(err)
			}
			if after := all(t, root, fake); after != before {
				t.Errorf("a rollback left\n%s\nof\n%s", after, before)
			}
		})
	}
}

// TestFreeBSD applies, confirms, rolls back, and lets a boot revert, with FreeBSD's commands.
func TestFreeBSD(t *testing.T) {
	m, root, fake, env := fakeFreeBSD(t)
	before := all(t, root, fake)
	p := freebsdPlan(t)
	ctx := context.Background()
	o := Options{Within: time.Minute, Say: t.Logf}
	if got, err := Run(ctx, m, p, o); got != Pending || err != nil {
		t.Fatalf("apply: %s, %v", got, err)
	}
	pending := all(t, root, fake)
	for _, want := range []string{"./sysctl/net.inet.ip.redirect 0|", "./sysctl/net.inet.ip.forwarding 1|", "./mtu 9000|", "./lro \n", "./kld/tcp_rack", "./states 5000000|", "./adaptive.start 3000000|",
		`net.pf.states_hashsize="4194304"|`, `gateway_enable="YES"|`, `ifconfig_em0="${ifconfig_em0-} -lro"|`, `kld_list="${kld_list-} tcp_rack"|`,
		"./etc/rc.d/linerate_revert #!/bin/sh|# PROVIDE: linerate_revert|# REQUIRE: FILESYSTEMS|# BEFORE: netif|"} {
		if !strings.Contains(pending, want) {
			t.Errorf("after apply there is no %q in\n%s", want, pending)
		}
	}
	if _, err := os.Stat(filepath.Join(root, plan.FreeBSDLoader)); err == nil {
		t.Error("the loader's file exists before confirm")
	}
	st, err := m.Status(ctx)
	if err != nil || !st.Armed || !st.Ready || st.Init != "rc" || st.Left < 50 {
		t.Errorf("status %+v, %v", st, err)
	}
	bootFreeBSD(t, root, env)
	if after := all(t, root, fake); after != before {
		t.Errorf("a boot left\n%s\nof\n%s", after, before)
	}

	if got, err := Run(ctx, m, p, o); got != Pending || err != nil {
		t.Fatalf("apply: %s, %v", got, err)
	}
	if _, err := m.Confirm(ctx, p.Digest); err != nil {
		t.Fatal(err)
	}
	st, err = m.Status(ctx)
	past, ok := st.Current()
	if err != nil || !ok || len(st.Drift) != 0 || len(st.NextBoot) != 1 || st.NextBoot[0] != plan.FreeBSDLoader {
		t.Fatalf("status %+v, %v", st, err)
	}
	if _, err := m.Rollback(ctx, past.ID); err != nil {
		t.Fatal(err)
	}
	if after := all(t, root, fake); after != before {
		t.Errorf("a rollback left\n%s\nof\n%s", after, before)
	}
	if st, err = m.Status(ctx); err != nil || len(st.NextBoot) != 0 {
		t.Errorf("a change that no boot has read yet must be pending for a boot: %+v, %v", st, err)
	}
}

package apply

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/host/localhost"
	"linerate/internal/labtest"
	"linerate/internal/plan"
	"linerate/internal/setting"
)

// sandbox is a test host with files in a temporary root, and sysctls in its own network namespace.
type sandbox struct {
	root string
	jobs chan job
}

type job struct {
	cmd  *exec.Cmd
	done chan error
}

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	if os.Getuid() != 0 {
		labtest.Lacking(t, "needs root: it changes sysctls of a network namespace")
	}
	r := &sandbox{root: t.TempDir(), jobs: make(chan job)}
	ready := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the namespace
		err := unix.Unshare(unix.CLONE_NEWNET)
		ready <- err
		for j := range r.jobs {
			j.done <- j.cmd.Run()
		}
	}()
	if err := <-ready; err != nil {
		labtest.Lacking(t, "no network namespace here: %v", err)
	}
	t.Cleanup(func() { close(r.jobs) })
	for _, d := range []string{"etc/sysctl.d", "etc/modprobe.d", "etc/modules-load.d", "etc/udev/rules.d", "etc/tmpfiles.d", "etc/init.d", "etc/rcS.d", "etc/cron.d"} {
		if err := os.MkdirAll(filepath.Join(r.root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func (r *sandbox) run(cmd *exec.Cmd) error {
	j := job{cmd, make(chan error, 1)}
	r.jobs <- j
	return <-j.done
}

func (r *sandbox) runner() *localhost.Runner {
	return &localhost.Runner{Env: []string{"LINERATE_ROOT=" + r.root, "LINERATE_INIT=sysv"}, Start: r.run}
}

func (r *sandbox) sysctl(t *testing.T, name string) string {
	t.Helper()
	out, err := func() ([]byte, error) {
		var b strings.Builder
		cmd := exec.Command("sysctl", "-n", name)
		cmd.Stdout = &b
		err := r.run(cmd)
		return []byte(b.String()), err
	}()
	if err != nil {
		t.Fatalf("sysctl %s: %v", name, err)
	}
	return strings.Join(strings.Fields(string(out)), " ")
}

func text(s string) *string { return &s }

// testPlan changes three sysctls of a namespace, and two files.
func testPlan(t *testing.T, m Machine) plan.Plan {
	t.Helper()
	id, err := m.Hello(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	sysctl := func(name, was, value string) plan.Step {
		return plan.Step{Name: name, Mechanism: setting.Sysctl, Current: plan.Current{Value: &was}, Value: value,
			Where: plan.Where{File: plan.LinuxSysctl, Runtime: true}, Reason: "a test"}
	}
	p, err := plan.Seal(plan.Plan{OS: id.OS, Release: id.Release, Host: id.Host, Role: "router", Settings: []plan.Step{
		sysctl("net.ipv4.ip_forward", "0", "1"),
		sysctl("net.ipv4.tcp_rmem", "4096 131072 6291456", "4096 131072 67108864"),
		sysctl("net.ipv4.ip_local_port_range", "32768 60999", "1024 65535"),
		{Name: "nf_conntrack/hashsize", Mechanism: setting.ModParam, Value: "65536",
			Where: plan.Where{File: plan.LinuxModprobe}, Reason: "a test"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestApplyConfirmRollback(t *testing.T) {
	r := newSandbox(t)
	m := On(r.runner())
	p := testPlan(t, m)
	for i := range p.Settings[:3] {
		p.Settings[i].Current.Value = text(r.sysctl(t, p.Settings[i].Name))
	}
	p, _ = plan.Seal(p)
	ctx := context.Background()
	o := Options{Within: time.Minute, Say: t.Logf}
	got, err := Run(ctx, m, p, o)
	if got != Pending || err != nil {
		t.Fatalf("apply: %s, %v", got, err)
	}
	if v := r.sysctl(t, "net.ipv4.tcp_rmem"); v != "4096 131072 67108864" {
		t.Errorf("tcp_rmem is %s", v)
	}
	st, err := m.Status(ctx)
	if err != nil || !st.Armed || !st.Ready || st.State != "pending" || st.Left < 50 {
		t.Fatalf("status %+v, %v", st, err)
	}
	if _, err := Run(ctx, m, p, o); err == nil || !strings.Contains(err.Error(), "another apply is pending") {
		t.Errorf("a second apply: %v", err)
	}
	if said, err := m.Confirm(ctx, p.Digest); err != nil || !strings.Contains(said, "confirmed 000001-") {
		t.Fatalf("confirm: %q, %v", said, err)
	}
	if _, err := m.Confirm(ctx, ""); err == nil {
		t.Error("a second confirm was accepted")
	}
	st, err = m.Status(ctx)
	if err != nil || st.State != "idle" || len(st.Drift) != 0 || len(st.History) != 1 {
		t.Fatalf("status %+v, %v", st, err)
	}
	past, _ := st.Current()
	if _, err := m.Rollback(ctx, past.ID); err != nil {
		t.Fatal(err)
	}
	if v := r.sysctl(t, "net.ipv4.ip_forward"); v != *p.Settings[0].Current.Value {
		t.Errorf("ip_forward is %s after rollback", v)
	}
	if _, err := os.Stat(filepath.Join(r.root, plan.LinuxSysctl)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the drop-in file still exists: %v", err)
	}
	out, _ := exec.Command("find", r.root, "-type", "f").CombinedOutput()
	t.Logf("%s", out)
}

const grubConfig = `menuentry 'Debian GNU/Linux' --class debian $menuentry_id_option 'gnulinux-simple-1' {
	insmod part_gpt
	linux	/boot/vmlinuz-6.1.0-18-amd64 root=/dev/vda1 ro quiet
	initrd	/boot/initrd.img-6.1.0-18-amd64
}
submenu 'Advanced options' {
	menuentry 'an older one' {
		linux	/boot/vmlinuz-6.1.0-9-amd64 root=/dev/vda1 ro
	}
}
if [ -f ${config_directory}/custom.cfg ]; then source ${config_directory}/custom.cfg; fi
`

// TestGRUBTrial: the trial is a GRUB entry for one boot, a copy of the running kernel's; any other boot
// reverts it, and leaves nothing of it.
func TestGRUBTrial(t *testing.T) {
	const trial = " linerate.trial=000001-"
	for name, c := range map[string]struct {
		entry string // end of the boot's command line
		state string
	}{"it comes up": {trial, "pending"}, "it hung, this is the next": {"", "idle"}} {
		t.Run(name, func(t *testing.T) {
			r := newSandbox(t)
			write := func(path, text string) {
				path = filepath.Join(r.root, path)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
					t.Fatal(err)
				}
			}
			write("boot/grub/grub.cfg", grubConfig)
			write("boot/grub/grubenv", "")
			write("cmdline", "BOOT_IMAGE=/boot/vmlinuz-6.1.0-18-amd64 root=/dev/vda1 ro quiet\n")
			write("bin/grub-reboot", "#!/bin/sh\necho next_entry=$2 >$LINERATE_ROOT/boot/grub/grubenv\n")
			write("bin/grub-editenv", "#!/bin/sh\n: >$1\n")
			write("bin/shutdown", "#!/bin/sh\n")
			m := OnWith(r.runner(), Script("PATH=$ROOT/bin:$PATH\ncmdline() { cat \"$ROOT/cmdline\"; }\n"))
			p := testPlan(t, m)
			for i := range p.Settings[:3] {
				p.Settings[i].Current.Value = text(r.sysctl(t, p.Settings[i].Name))
			}
			p, _ = plan.Seal(p)
			ctx := context.Background()
			if got, err := Run(ctx, m, p, Options{Within: time.Minute, Trial: true, Say: t.Logf}); got != Pending || err != nil {
				t.Fatalf("apply: %s, %v", got, err)
			}
			entry, _ := os.ReadFile(filepath.Join(r.root, "boot/grub/custom.cfg"))
			env, _ := os.ReadFile(filepath.Join(r.root, "boot/grub/grubenv"))
			want := "menuentry \"linerate: trial\" --id linerate-trial {\n\tinsmod part_gpt\n\tlinux\t/boot/vmlinuz-6.1.0-18-amd64 root=/dev/vda1 ro quiet" + trial + p.Short() + "\n\tinitrd\t/boot/initrd.img-6.1.0-18-amd64\n}\n"
			if string(entry) != want || string(env) != "next_entry=linerate-trial\n" {
				t.Errorf("the entry is\n%s\nwant\n%s\nchosen by %q", entry, want, env)
			}
			if c.entry != "" {
				write("cmdline", "BOOT_IMAGE=/boot/vmlinuz-6.1.0-18-amd64 root=/dev/vda1 ro quiet"+c.entry+p.Short()+"\n")
			}
			boot := exec.Command("/bin/sh", filepath.Join(r.root, "etc/rcS.d/S13linerate-revert"), "start")
			boot.Env = append(os.Environ(), "LINERATE_ROOT="+r.root, "LINERATE_INIT=sysv")
			if err := r.run(boot); err != nil {
				t.Fatal(err)
			}
			st, err := m.Status(ctx)
			if _, custom := os.Stat(filepath.Join(r.root, "boot/grub/custom.cfg")); err != nil || st.State != c.state || custom == nil || (c.state == "pending") != st.Armed {
				t.Errorf("%+v, %v, the entry: %v", st, err, custom)
			}
			_, _ = m.Revert(ctx, "any", "the end")
		})
	}
}

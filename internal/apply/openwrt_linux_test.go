package apply

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/host/localhost"
	"linerate/internal/labtest"
	"linerate/internal/plan"
	"linerate/internal/setting"
)

// openwrtApplets are the commands of an OpenWrt's busybox, from
// package/utils/busybox/Config-defaults.in.
var openwrtApplets = strings.Fields("[ ash awk cat chmod chown cmp cp date env flock fsync grep head id ip kill ln ls mkdir mv ping printf rm rmdir sed sh sleep sort start-stop-daemon sync sysctl tail test touch tr uname")

// openwrtLacks is prepended to the commands of another system's busybox: commands that OpenWrt lacks fail,
// flock(1) and sleep(1) accept only what OpenWrt's do, and fsync(1) is sync(1).
const openwrtLacks = `
for c in stat setsid od ps nohup timeout realpath install shuf usleep; do eval "$c() { echo 'OpenWrt has no $c' >&2; exit 99; }"; done
sync() { [ $# = 0 ] || { echo 'its sync takes no files' >&2; exit 99; }; }
fsync() { /opt/sync "$@"; }
sleep() { case $1 in *[!0-9]*) return 1 ;; esac; command sleep "$1"; }
flock() { case $1 in -n) /opt/flock "$@" ;; *) echo "its flock has no $1" >&2; exit 99 ;; esac; }
`

// openwrtBox is a root with OpenWrt's commands, in its own network and mount namespaces. The busybox in
// LINERATE_OPENWRT_BUSYBOX was built with OpenWrt's configuration; without it another busybox is
// restricted to what OpenWrt's can do.
func openwrtBox(t *testing.T) (Machine, *sandbox) {
	t.Helper()
	busybox, own := os.LookupEnv("LINERATE_OPENWRT_BUSYBOX")
	if !own {
		var err error
		if busybox, err = exec.LookPath("busybox"); err != nil {
			labtest.Lacking(t, "busybox")
		}
	}
	if os.Getuid() != 0 {
		labtest.Lacking(t, "root, for namespaces and a root directory of its own")
	}
	r := &sandbox{root: t.TempDir(), jobs: make(chan job)}
	for _, d := range []string{"bin", "opt", "lib", "lib64", "usr/lib", "usr/lib64", "proc", "sys", "dev", "tmp", "etc/sysctl.d", "etc/init.d", "etc/rc.d"} {
		if err := os.MkdirAll(filepath.Join(r.root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	must := func(errs ...error) {
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	copied := func(from, to string) error {
		b, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(r.root, to), b, 0o755)
	}
	must(copied(busybox, "bin/busybox"), os.Symlink("tmp", filepath.Join(r.root, "var")),
		os.WriteFile(filepath.Join(r.root, "etc/openwrt_release"), []byte("DISTRIB_RELEASE='24.10.0'\n"), 0o644),
		os.WriteFile(filepath.Join(r.root, "etc/sysctl.d/10-default.conf"), []byte("net.ipv4.ip_default_ttl=64\n"), 0o644))
	for _, a := range openwrtApplets {
		must(os.Symlink("busybox", filepath.Join(r.root, "bin", a)))
	}
	script := Agent()
	if !own {
		for _, c := range []string{"sync", "flock"} {
			at, err := exec.LookPath(c)
			if err != nil {
				labtest.Lacking(t, "%s", c)
			}
			must(copied(at, "opt/"+c))
		}
		script = Script(openwrtLacks)
	}
	r.inside(t)
	return OnWith(&localhost.Runner{Start: r.run}, script), r
}

// inside starts a thread that runs commands with the sandbox as root directory.
func (r *sandbox) inside(t *testing.T) {
	t.Helper()
	ready := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the namespaces
		ready <- func() error {
			if err := unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_FS); err != nil {
				return err
			}
			mount := func(kind, from, to string, flags uintptr) error {
				return unix.Mount(from, filepath.Join(r.root, to), kind, flags, "")
			}
			errs := []error{unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""), mount("proc", "proc", "proc", 0), mount("sysfs", "sysfs", "sys", 0),
				mount("", "/dev", "dev", unix.MS_BIND|unix.MS_REC)}
			for _, d := range []string{"lib", "lib64", "usr/lib", "usr/lib64"} { // libraries of the commands that replace busybox's
				if _, err := os.Stat("/" + d); err == nil {
					errs = append(errs, mount("", "/"+d, d, unix.MS_BIND|unix.MS_RDONLY))
				}
			}
			return errors.Join(errs...)
		}()
		for j := range r.jobs {
			j.cmd.Dir = "/"
			if j.cmd.SysProcAttr == nil {
				j.cmd.SysProcAttr = &syscall.SysProcAttr{}
			}
			j.cmd.SysProcAttr.Chroot = r.root
			j.done <- j.cmd.Run()
		}
	}()
	if err := <-ready; err != nil {
		labtest.Lacking(t, "no namespaces here: %v", err)
	}
	t.Cleanup(func() { close(r.jobs) })
}

// ash runs a command in the sandbox and returns its output.
func (r *sandbox) ash(t *testing.T, script string) string {
	t.Helper()
	var b strings.Builder
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Env, cmd.Stdout, cmd.Stderr = []string{"PATH=/bin"}, &b, &b
	if err := r.run(cmd); err != nil {
		t.Fatalf("%s: %v: %s", script, err, b.String())
	}
	return b.String()
}

// everything returns what a revert must restore: values, and each file with its content.
func (r *sandbox) everything(t *testing.T) string {
	return r.ash(t, `sysctl -n net.ipv4.ip_default_ttl net.ipv4.tcp_rmem; for f in $(ls -d /etc/* /etc/sysctl.d/* /etc/init.d/* /etc/rc.d/* | grep -v linerate/); do [ -d $f ] || { ls -ln $f; cat $f; }; done`)
}

func openwrtPlan(t *testing.T, m Machine, r *sandbox) plan.Plan {
	t.Helper()
	id, err := m.Hello(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if id.Product != "openwrt" || id.Init != "procd" {
		t.Fatalf("%+v", id)
	}
	p := plan.Plan{OS: id.OS, Release: id.Release, Host: id.Host, Role: "router"}
	for name, value := range map[string]string{"net.ipv4.ip_default_ttl": "77", "net.ipv4.tcp_rmem": "4096 65536 1048576"} {
		was := strings.Join(strings.Fields(r.ash(t, "sysctl -n "+name)), " ")
		p.Settings = append(p.Settings, plan.Step{Name: name, Mechanism: setting.Sysctl, Current: plan.Current{Value: &was}, Value: value,
			Where: plan.Where{File: plan.LinuxSysctl, Runtime: true}, Reason: "a test"})
	}
	if p, err = plan.Seal(p); err != nil {
		t.Fatal(err)
	}
	return p
}

// settled waits until no change is in progress.
func settled(t *testing.T, m Machine) (st Status) {
	t.Helper()
	if !labtest.Eventually(func() (idle bool) {
		var err error
		st, err = m.Status(t.Context())
		return err == nil && st.State == "idle"
	}) {
		t.Fatalf("the change is still in progress: %+v", st)
	}
	return st
}

// TestOpenWrt: an applied change is running, nothing is written before confirm, and any kind of revert
// (time-out, by hand, a boot, rollback) restores the router.
func TestOpenWrt(t *testing.T) {
	m, r := openwrtBox(t)
	p, ctx := openwrtPlan(t, m, r), context.Background()
	was := r.everything(t)
	apply := func() {
		t.Helper()
		if got, err := Run(ctx, m, p, Options{Within: 20 * time.Minute, Say: t.Logf}); got != Pending || err != nil {
			t.Fatalf("%s, %v", got, err)
		}
		st, err := m.Status(ctx)
		if err != nil || st.State != "pending" || !st.Armed || !st.Ready || !st.NoCron {
			t.Fatalf("%+v, %v", st, err)
		}
		if v := r.ash(t, "sysctl -n net.ipv4.ip_default_ttl; ls -d "+plan.LinuxSysctl+" 2>/dev/null || echo none"); v != "77\nnone\n" {
			t.Fatalf("applied: %q", v)
		}
	}
	same := func(how string) {
		t.Helper()
		now := ""
		if !labtest.Eventually(func() bool { now = r.everything(t); return now == was }) { // what takes it back removes itself last
			t.Fatalf("%s left\n%s\nwas\n%s", how, now, was)
		}
	}
	apply()
	if _, err := m.Revert(ctx, "any", "by hand"); err != nil {
		t.Fatal(err)
	}
	same("a revert")

	apply()
	r.ash(t, `d=/etc/linerate/pending/deadline; read boot rest <$d; echo "$boot 1" >$d.over; mv $d.over $d`)
	settled(t, m)
	same("the time to confirm, over,")

	apply()
	r.ash(t, "for f in /etc/rc.d/S*; do sh $f boot; done") // as procd does
	settled(t, m)
	same("a boot")

	apply()
	for _, f := range []string{"watcher", "guard"} { // the guard restarts the watcher, or else status does
		r.ash(t, "kill -9 $(cat /etc/linerate/pending/"+f+")")
	}
	if st, err := m.Status(ctx); err != nil || !st.Armed {
		t.Fatalf("the switch was killed: %+v, %v", st, err)
	}
	if said, err := m.Confirm(ctx, p.Digest); err != nil || !strings.HasPrefix(said, "confirmed") {
		t.Fatalf("%q, %v", said, err)
	}
	st := settled(t, m)
	if kept := r.ash(t, "cat "+plan.LinuxSysctl+"; ls /etc/linerate /etc/rc.d"); !strings.Contains(kept, "net.ipv4.ip_default_ttl=77") || strings.Contains(kept, "agent") || strings.Contains(kept, "linerate-revert") || len(st.Drift) > 0 {
		t.Errorf("confirmed:\n%s%+v", kept, st.Drift)
	}
	last, _ := st.Current()
	if _, err := m.Rollback(ctx, last.ID); err != nil {
		t.Fatal(err)
	}
	same("a rollback")
}

// TestOpenWrtRefuses: files that OpenWrt does not read at boot, and trials by reboot.
func TestOpenWrtRefuses(t *testing.T) {
	id := Identity{OS: "linux", Release: "6.6.73", Init: "procd", Product: "openwrt"}
	p := plan.Plan{OS: "linux", Release: "6.6", Settings: []plan.Step{{Name: "nf_conntrack/hashsize", Mechanism: setting.ModParam, Value: "65536", Where: plan.Where{File: plan.LinuxModprobe}}}}
	if err := Fits(p, id); err == nil || !strings.Contains(err.Error(), plan.LinuxModprobe) {
		t.Errorf("a file that OpenWrt does not read: %v", err)
	}
	p.Settings[0] = plan.Step{Name: "net.ipv4.ip_default_ttl", Mechanism: setting.Sysctl, Value: "77", Where: plan.Where{File: plan.LinuxSysctl, Runtime: true}}
	if err := Fits(p, id); err != nil {
		t.Error(err)
	}
	if err := untried(id, Options{Trial: true}); err == nil || fmt.Sprint(untried(id, Options{})) != "<nil>" {
		t.Errorf("a trial: %v", err)
	}
}

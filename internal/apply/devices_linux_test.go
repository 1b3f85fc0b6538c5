package apply

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/labtest"
	"linerate/internal/plan"
	"linerate/internal/setting"
)

// newDevices is a sandbox whose /sys is that of the namespace, with interfaces of this kernel: lr0 and lr1
// are a veth pair with two queues each way, lr2 is a tap.
func newDevices(t *testing.T) *sandbox {
	t.Helper()
	if os.Getuid() != 0 {
		labtest.Lacking(t, "needs root: it makes interfaces in a network namespace")
	}
	labtest.Program(t, "ethtool")
	r := &sandbox{root: t.TempDir(), jobs: make(chan job)}
	ready := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the namespaces
		err := unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_FS)
		if err == nil {
			err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
		}
		if err == nil {
			err = unix.Mount("sysfs", "/sys", "sysfs", 0, "")
		}
		ready <- err
		for j := range r.jobs {
			j.done <- j.cmd.Run()
		}
	}()
	if err := <-ready; err != nil {
		labtest.Lacking(t, "no namespaces with a /sys of their own here: %v", err)
	}
	t.Cleanup(func() { close(r.jobs) })
	for _, d := range []string{"etc/sysctl.d", "etc/modprobe.d", "etc/udev/rules.d", "etc/init.d", "etc/rcS.d"} {
		if err := os.MkdirAll(filepath.Join(r.root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, words := range []string{"link add lr0 numtxqueues 2 numrxqueues 2 type veth peer name lr1 numtxqueues 2 numrxqueues 2",
		"link set lr0 up", "link set lr1 up", "tuntap add lr2 mode tap"} {
		if err := r.run(exec.Command("ip", strings.Fields(words)...)); err != nil {
			t.Fatalf("ip %s: %v", words, err)
		}
	}
	return r
}

// shell returns a command's output in the sandbox, without surrounding blanks.
func (r *sandbox) shell(command string) string {
	var out bytes.Buffer
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = r.run(cmd)
	return strings.TrimSpace(out.String())
}

// deviceStep is a setting of an interface, and a command that shows it.
type deviceStep struct {
	mechanism           setting.Mechanism
	device, name, value string
	look                string // a command
	seen                string // its output then; "" for value
}

// deviceSteps are settings of every mechanism that interfaces in a namespace have, and a module parameter.
// Channels come first: a removed queue loses its masks.
func deviceSteps() []deviceStep {
	sys := func(file string) string { return "cat /sys/class/net/lr0/" + file }
	return []deviceStep{
		{setting.Channels, "lr0", "rx", "1", "ethtool -l lr0 | awk '/^Current/ { now = 1 } now && $1 == \"RX:\" { print $2 }'", ""},
		{setting.Coalesce, "lr2", "rx-frames", "16", "ethtool -c lr2 | awk '$1 == \"rx-frames:\" { print $2 }'", ""},
		{setting.Link, "lr0", "mtu", "9000", sys("mtu"), ""},
		{setting.Link, "lr0", "txqueuelen", "250", sys("tx_queue_len"), ""},
		{setting.Offload, "lr0", "gro", "on", "ethtool -k lr0 | awk '$1 == \"generic-receive-offload:\" { print $2 }'", ""},
		{setting.Offload, "lr0", "tso", "off", "ethtool -k lr0 | awk '$1 == \"tcp-segmentation-offload:\" { print $2 }'", ""},
		{setting.NAPI, "lr0", "threaded", "on", sys("threaded"), "1"},
		{setting.NAPI, "lr0", "defer-hard-irqs", "2", sys("napi_defer_hard_irqs"), ""},
		{setting.NAPI, "lr0", "gro-flush-timeout", "20000", sys("gro_flush_timeout"), ""},
		{setting.RPS, "lr0", "rx-0", "3", sys("queues/rx-0/rps_cpus"), ""},
		{setting.RFS, "lr0", "rx-0", "256", sys("queues/rx-0/rps_flow_cnt"), ""},
		{setting.XPS, "lr0", "tx-0", "1", sys("queues/tx-0/xps_cpus"), ""},
		{setting.ModParam, "", "tcp_cubic/hystart_low_window", "24", "cat /sys/module/tcp_cubic/parameters/hystart_low_window", ""},
		{setting.Sysctl, "", "net.ipv4.conf.lr0.rp_filter", "2", "sysctl -n net.ipv4.conf.lr0.rp_filter", ""},
	}
}

func devicePlan(t *testing.T, m Machine, steps []deviceStep) plan.Plan {
	t.Helper()
	id, err := m.Hello(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	p := plan.Plan{OS: id.OS, Release: id.Release, Host: id.Host, Role: "router"}
	for _, s := range steps {
		p.Settings = append(p.Settings, plan.Step{Name: s.name, Device: s.device, Mechanism: s.mechanism, Value: s.value,
			Where: plan.Where{File: plan.PlaceOf(id.OS, s.mechanism), Runtime: true}, Reason: "a test"})
	}
	if p, err = plan.Seal(p); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestDevicesAreTaken applies a plan of interface settings for every mechanism that this kernel's virtual
// interfaces have, checks each with the system's tools, confirms it, finds it in its files, and rolls
// it back.
func TestDevicesAreTaken(t *testing.T) {
	r := newDevices(t)
	m := On(r.runner())
	ctx := context.Background()
	var steps []deviceStep
	was := map[string]string{}
	for _, s := range deviceSteps() {
		v := r.shell(s.look)
		if v == "" || strings.Contains(v, " ") { // an answer of several words is a complaint
			t.Logf("%s %s of %s does not exist on this kernel: %s", s.mechanism, s.name, s.device, v)
			continue
		}
		was[s.look] = v
		steps = append(steps, s)
	}
	if len(steps) < 8 {
		t.Fatalf("this kernel supports only %d interface settings: %v", len(steps), steps)
	}
	p := devicePlan(t, m, steps)
	if got, err := Run(ctx, m, p, Options{Within: time.Minute, Say: t.Logf}); got != Pending || err != nil {
		t.Fatalf("apply: %s, %v", got, err)
	}
	for _, s := range steps {
		want := s.seen
		if want == "" {
			want = s.value
		}
		if got := r.shell(s.look); strings.TrimLeft(got, "0,") != want {
			t.Errorf("%s %s of %s is %s, planned %s", s.mechanism, s.name, s.device, got, want)
		}
		if was[s.look] == want {
			t.Errorf("%s %s of %s was %s before: nothing was tried", s.mechanism, s.name, s.device, want)
		}
	}
	if _, err := m.Confirm(ctx, p.Digest); err != nil {
		t.Fatal(err)
	}
	st, err := m.Status(ctx)
	if err != nil || len(st.Drift) != 0 {
		t.Fatalf("status %+v, %v", st, err)
	}
	files := r.files(t)
	for path, want := range map[string]string{plan.LinuxUdev: `KERNEL=="lr0"`, plan.LinuxModprobe: "options tcp_cubic hystart_low_window=24", plan.LinuxSysctl: "net.ipv4.conf.lr0.rp_filter=2"} {
		if !strings.Contains(files[path], want) {
			t.Errorf("%s has no %s after confirm: %q", path, want, files[path])
		}
	}
	past, _ := st.Current()
	if _, err := m.Rollback(ctx, past.ID); err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		if got := r.shell(s.look); got != was[s.look] {
			t.Errorf("%s %s of %s is %s after the rollback, was %s", s.mechanism, s.name, s.device, got, was[s.look])
		}
	}
	for path, text := range r.files(t) {
		if text != "" {
			t.Errorf("%s still exists: %s", path, text)
		}
	}
}

// files returns the texts of all files that plans write, "" for missing ones.
func (r *sandbox) files(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, path := range plan.Places("linux") {
		b, err := os.ReadFile(filepath.Join(r.root, path))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		texts[path] = string(b)
	}
	return texts
}

// TestDevicesThatRefuse: a setting that a driver lacks or refuses stops the whole plan, and the settings
// before it are reverted.
func TestDevicesThatRefuse(t *testing.T) {
	r := newDevices(t)
	m := On(r.runner())
	mtu := deviceStep{mechanism: setting.Link, device: "lr0", name: "mtu", value: "9000"}
	for note, c := range map[string]struct {
		step deviceStep
		says string
	}{
		"a veth has no rings":              {deviceStep{mechanism: setting.Ring, device: "lr0", name: "rx", value: "4096"}, "does not exist on this host"},
		"a veth has two queues":            {deviceStep{mechanism: setting.Channels, device: "lr0", name: "rx", value: "8"}, "cannot set"},
		"an interface that does not exist": {deviceStep{mechanism: setting.Offload, device: "lr9", name: "gro", value: "on"}, "does not exist on this host"},
		"a mask of more CPUs than are":     {deviceStep{mechanism: setting.RPS, device: "lr0", name: "rx-0", value: "zz"}, "cannot set"},
		"an MTU beyond what a veth takes":  {deviceStep{mechanism: setting.Link, device: "lr1", name: "mtu", value: "99999999"}, "cannot set"},
	} {
		t.Run(note, func(t *testing.T) {
			p := devicePlan(t, m, []deviceStep{mtu, c.step})
			got, err := Run(context.Background(), m, p, Options{Within: time.Minute, Say: func(string, ...any) {}})
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s, %v; want an error that says %q", got, err, c.says)
			}
			if v := r.shell("cat /sys/class/net/lr0/mtu"); v != "1500" {
				t.Errorf("the MTU is %s, was 1500", v)
			}
			if st, err := m.Status(context.Background()); err != nil || st.State != "idle" {
				t.Errorf("status %+v, %v", st, err)
			}
		})
	}
}

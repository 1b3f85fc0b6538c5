package sshbed

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"linerate/internal/apply"
	"linerate/internal/hint"
	"linerate/internal/knob"
	"linerate/internal/labtest"
	"linerate/internal/plan"
	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// boots emulates a boot of a tree of files: a new boot id, then what init runs. While a file called
// stuck exists, it does not come up. The parentheses are needed because a function alone would keep
// the session's output open, and so the session.
const boots = `
boot_id() { cat "$ROOT/boot_id"; }
boot_name() { cat "$ROOT/boot_id"; }
insure() { :; }
come_up() {
	sleep 0.3
	while [ -e "$ROOT/stuck" ]; do sleep 0.1; done
	w=$(cat "$S/pending/watcher" 2>/dev/null) && kill -9 "$w" # a boot ends it, and then is another
	od -An -N6 -tx1 /dev/urandom | tr -d ' \n' >"$ROOT/boot_id"
	[ ! -f "$S/agent" ] || /bin/sh "$S/agent" boot
}
reboot() { (come_up) >/dev/null 2>&1 </dev/null & }
reboot_now() { reboot; }
`

var changed = []setting.Setting{
	{Mechanism: setting.Sysctl, Name: "net.ipv4.tcp_keepalive_time", Value: "7100"},
	{Mechanism: setting.Files, Name: "set"},
	{Mechanism: setting.NFT, Rules: &setting.Rules{Linear: 3}},
	{Mechanism: setting.Command, Argv: []string{"ip", "link", "add", "dummy9", "type", "bridge"}, Undo: []string{"ip", "link", "del", "dummy9"}},
}

func tree(string) ([]plan.File, error) {
	return []plan.File{{Path: "/etc/new/laid.conf", Mode: 0o600, Content: "a line"}, {Path: "/etc/kept.conf", Mode: 0o644, Content: "theirs\n"}}, nil
}

// faultBench returns a bench whose DUT has a file of its own.
func faultBench(t *testing.T) *bench {
	b := newBench(t)
	for name, text := range map[string]string{"etc/kept.conf": "ours\n", "boot_id": "first\n"} {
		if err := os.WriteFile(filepath.Join(b.root, name), []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// TestFaults breaks a testbed in every way that could leave a DUT changed; each time the error must
// explain it, and the DUT must be restored.
func TestFaults(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		labtest.Lacking(t, "minutes on a busy machine")
	}
	b := faultBench(t)
	ctx := context.Background()
	was := b.snapshot(t)
	up := func(t *testing.T, change func(*Options)) *Bed {
		o := b.options(t)
		o.Tree = tree
		if change != nil {
			change(&o)
		}
		bed, err := Up(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		return bed
	}
	closed := func(t *testing.T, bed *Bed) {
		t.Helper()
		if err := bed.Close(); err != nil {
			t.Error(err)
		}
		eq(t, "the DUT", b.snapshot(t), was)
	}
	t.Run("a study that ends", func(t *testing.T) {
		bed := up(t, nil)
		a, err := bed.Reset(ctx, changed)
		if err != nil {
			t.Fatal(err)
		}
		if a.ReadBack["sysctl net.ipv4.tcp_keepalive_time"] != "7100" || a.ReadBack["file /etc/kept.conf"] != sha("theirs\n") {
			t.Errorf("read back %v", a.ReadBack)
		}
		if !strings.Contains(b.Run(t, b.DUT, "sh", "-c", "ip link; nft list ruleset"), "dummy9") {
			t.Error("the command did not run")
		}
		if _, err := bed.Reset(ctx, nil); err != nil {
			t.Fatal(err)
		}
		closed(t, bed)
	})
	t.Run("two controllers", func(t *testing.T) {
		bed := up(t, nil)
		o := b.options(t)
		o.Owner = "another-study"
		_, err := Up(ctx, o)
		if !errors.Is(err, ErrHeld) || !strings.Contains(err.Error(), "test-study") || hint.Of(err) == "" {
			t.Errorf("the second controller: %v (hint %q)", err, hint.Of(err))
		}
		if _, err := bed.Reset(ctx, changed); err != nil {
			t.Errorf("the first controller, after that: %v", err)
		}
		closed(t, bed)
	})
	t.Run("a controller that dies and goes on", func(t *testing.T) {
		bed := up(t, nil)
		if _, err := bed.Reset(ctx, changed); err != nil {
			t.Fatal(err)
		}
		bed.lock.Close() // the process died
		o := b.options(t)
		o.Owner = "another-study"
		if _, err := Up(ctx, o); err == nil || !strings.Contains(err.Error(), "holds another study's variant") {
			t.Errorf("another study: %v", err)
		}
		closed(t, up(t, nil))
	})
	t.Run("a controller that dies for ever", func(t *testing.T) {
		bed := up(t, func(o *Options) { o.Window = 3 * time.Second })
		if _, err := bed.Reset(ctx, changed); err != nil {
			t.Fatal(err)
		}
		bed.lock.Close()
		labtest.Eventually(func() bool { st, err := bed.m.Status(ctx); return err == nil && st.State == "idle" })
		if st, err := bed.m.Status(ctx); err != nil || st.State != "idle" {
			t.Errorf("long after the window: %+v, %v", st, err)
		}
		closed(t, up(t, nil)) // cleans up the history
	})
	t.Run("what touches the way in, or cannot be had", func(t *testing.T) {
		bed := up(t, nil)
		for _, s := range []setting.Setting{
			{Mechanism: setting.Command, Argv: []string{"ip", "link", "set", "mgmt0", "down"}, Undo: []string{"true"}},
			{Mechanism: setting.Command, Argv: []string{"pkill", "sshd"}, Undo: []string{"true"}},
			{Mechanism: setting.Sysctl, Name: "net.ipv4.conf.mgmt0.forwarding", Value: "0"},
			{Mechanism: setting.Command, Argv: []string{"true"}},
			{Mechanism: setting.RC, Name: "x", Value: "y"},
			{Mechanism: setting.Sysctl, Name: "net.ipv4.ip_default_ttl", Value: "999"}, // the kernel refuses it
		} {
			_, err := bed.Reset(ctx, []setting.Setting{s})
			var un *testbed.ErrUnavailable
			if !errors.As(err, &un) {
				t.Errorf("%s: %v", s, err)
			}
		}
		bed.o.Tree = func(string) ([]plan.File, error) { return []plan.File{{Path: "/root/.ssh/authorized_keys"}}, nil }
		if _, err := bed.Reset(ctx, changed[1:2]); err == nil || !strings.Contains(err.Error(), "refused: /root/.ssh/authorized_keys holds the way into the host") {
			t.Error(err)
		}
		closed(t, bed)
	})
	t.Run("a connection cut while the variant is applied", func(t *testing.T) {
		bed := up(t, nil)
		bed.m = &cutting{Machine: bed.m}
		_, err := bed.Reset(ctx, changed)
		if err == nil || !strings.Contains(err.Error(), "the connection was lost") || !strings.Contains(hint.Of(err), "when ssh://dut answers again, resume the study") {
			t.Errorf("%v (hint %q)", err, hint.Of(err))
		}
		closed(t, bed)
	})
}

// TestFullDisk fills the DUT's disk at different steps: the study stops with a clear error, and the DUT
// is restored.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	b := faultBench(t)
	ctx := context.Background()
	was := b.snapshot(t)
	for _, c := range []struct{ dir, size, want string }{
		{"var/lib", "16k", "nothing was changed"},                     // no room for the agent
		{"var/lib", "100k", "nothing was changed"},                    // no room for the journal
		{"etc/new", "4k", "etc/new/laid.conf; the host is as it was"}, // no room for the files of a set
	} {
		mounted := filepath.Join(b.root, c.dir)
		// The mount exists only on the DUT: ip-netns gives it a private mount namespace.
		on := func(argv ...string) string {
			out, err := exec.Command("nsenter", append([]string{"-t", strconv.Itoa(b.servers[testbed.DUT].PID()), "-m"}, argv...)...).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %v: %s", argv, err, out)
			}
			return string(out)
		}
		on("mkdir", "-p", mounted)
		on("mount", "-t", "tmpfs", "-o", "size="+c.size, "tmpfs", mounted)
		bed := b.up(t, func(o *Options) {
			o.Tree = func(string) ([]plan.File, error) {
				return []plan.File{{Path: "/etc/new/laid.conf", Mode: 0o644, Content: strings.Repeat("a line of many\n", 4000)}}, nil
			}
		})
		_, err := bed.Reset(ctx, changed)
		if err == nil || !strings.Contains(err.Error(), "set up the DUT: ") || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "No space left on device") || !strings.Contains(hint.Of(err), "fix that on ssh://dut") {
			t.Errorf("%s of %s: %v, want %q", c.dir, c.size, err, c.want)
		}
		if err := bed.Close(); err != nil {
			t.Error(err)
		}
		if left := on("find", mounted, "-type", "f"); left != "" {
			t.Errorf("left on the full disk: %s", left)
		}
		on("umount", mounted)
		if c.dir == "etc/new" {
			on("rmdir", mounted)
		}
		eq(t, "the DUT", b.snapshot(t), was)
	}
}

// cutting loses the answer of every apply.
type cutting struct{ apply.Machine }

func (c *cutting) Apply(ctx context.Context, t apply.Transaction) (string, map[knob.Key]string, error) {
	if _, _, err := c.Machine.Apply(ctx, t); err != nil {
		return "", nil, err
	}
	return "", nil, errors.New("the connection was lost before the end")
}

// TestReboots boots a tree of files: verified, read back, power-cycled, given up.
func TestReboots(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		labtest.Lacking(t, "minutes on a busy machine")
	}
	b := faultBench(t)
	ctx := context.Background()
	was := b.snapshot(t)
	same := func() { // everything except the boot id
		_ = os.WriteFile(filepath.Join(b.root, "boot_id"), []byte("first\n"), 0o640)
		eq(t, "the DUT", b.snapshot(t), was)
	}
	up := func(change func(*Options)) *Bed {
		o := b.options(t)
		o.Tree, o.Reset, o.inject = tree, Reboot, boots
		if change != nil {
			change(&o)
		}
		bed, err := Up(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		return bed
	}
	bed := up(nil)
	a, err := bed.Reset(ctx, append(changed[:2:2], setting.Setting{Mechanism: setting.Command, Argv: []string{"true"}}))
	if err != nil {
		t.Fatal(err)
	}
	if a.Boot == nil || a.Boot.Before != "first" || a.Boot.Boot == "first" || a.Boot.Attempts != 1 || len(a.NotTaken) != 0 || a.ReadBack["sysctl net.ipv4.tcp_keepalive_time"] != "7100" {
		t.Errorf("%+v, boot %+v", a, a.Boot)
	}
	// Settings that this boot does not apply are reported as not taken.
	bed.o.Tree = func(string) ([]plan.File, error) {
		return []plan.File{{Path: "/etc/sysctl.d/77.conf", Mode: 0o644, Content: "net.ipv4.ip_default_ttl = 77\nnet.ipv4.ip_forward=1\n"}}, nil
	}
	if a, err = bed.Reset(ctx, changed[1:2]); err != nil {
		t.Fatal(err)
	}
	if len(a.NotTaken) != 1 || !strings.Contains(a.NotTaken[0], `sysctl net.ipv4.ip_default_ttl is "64" after the boot, and was to be "77"`) {
		t.Errorf("not taken: %q", a.NotTaken)
	}
	// The answer to "reboot" is lost, because the machine went down with it.
	bed.o.DUT = &deafening{bed.o.DUT}
	if a, err = bed.Reset(ctx, nil); err != nil || a.Boot == nil || a.Boot.Attempts != 1 {
		t.Errorf("a connection cut by the boot: %+v, %v", a, err)
	}
	bed.o.DUT = bed.o.DUT.(*deafening).Conn
	if _, err = bed.Reset(ctx, changed[1:2]); err != nil {
		t.Fatal(err)
	}
	bed.lock.Close() // the controller dies here; the study resumes before the DUT is up
	b.Run(t, b.DUT, "sysctl", "-qw", "net.ipv4.tcp_keepalive_time=7200")
	down := &absent{Conn: b.conn(t, testbed.DUT), calls: 3}
	bed = up(func(o *Options) { o.DUT.Close(); o.DUT = down })
	if down.calls > 0 {
		t.Errorf("%d calls left before it was reachable", down.calls)
	}
	if err := bed.Close(); err != nil {
		t.Error(err)
	}
	same()
	// It goes down during a command, and the connection hangs.
	bed = up(func(o *Options) {
		o.answer = 2 * time.Second
		o.DUT = &silent{Conn: o.DUT, t: t}
	})
	if err := bed.Close(); err != nil {
		t.Error(err)
	}
	same()
	// A DUT that does not come up is power-cycled, then given up.
	stuck := filepath.Join(b.root, "stuck")
	powered := 0
	bed = up(func(o *Options) {
		o.File.Reboot.Wait = testbed.Duration(time.Second)
		o.File.Power = []string{"power", "cycle"}
		o.Local = func(context.Context, []string) error { powered++; return nil }
	})
	if err := os.WriteFile(stuck, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = bed.Reset(ctx, changed[1:2])
	if err == nil || !strings.Contains(err.Error(), "did not come back: waited 2 times 1s, cycled its power once") || powered != 1 || !strings.Contains(hint.Of(err), "reboot: {wait: 1s} of the testbed's file allows, write more there") {
		t.Errorf("%v (powered %d times)", err, powered)
	}
	// It comes up later after all. The boot that restores it is a different one.
	came := b.comesBack(t, stuck)
	if err := bed.Close(); err != nil || bed.id.Boot == came {
		t.Errorf("%v; the boot that restores it is %s, and the one before %s", err, bed.id.Boot, came)
	}
	same()
	// A DUT that hangs while it boots is power-cycled: its next boot reverts the trial.
	bed = up(func(o *Options) {
		o.File.Reboot.Wait = testbed.Duration(5 * time.Second)
		o.File.Reboot.Online = []string{"sh", "-c", "cd " + b.root + "/var/lib/linerate && [ ! -e pending ] && [ ! -e reverting ]"} // init reverts before it starts sshd
		o.File.Power = []string{"power", "cycle"}
		o.Local = func(context.Context, []string) error {
			b.Run(t, b.DUT, "env", "LINERATE_ROOT="+b.root, "LINERATE_INIT=sysv", "sh", filepath.Join(b.root, "var/lib/linerate/agent"), "boot")
			return os.Remove(stuck)
		}
	})
	if err := os.WriteFile(stuck, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if a, err = bed.Reset(ctx, changed[1:2]); err != nil || a.Boot.Powered != 1 || !slices.Contains(a.NotTaken, "the DUT put itself back while it booted") {
		t.Errorf("%v, boot %+v, not taken %q", err, a.Boot, a.NotTaken)
	}
	if err := bed.Close(); err != nil {
		t.Error(err)
	}
	same()
}

// comesBack lets a stuck DUT come up, and returns its boot id.
func (b *bench) comesBack(t *testing.T, stuck string) string {
	t.Helper()
	boot := func() string {
		id, err := os.ReadFile(filepath.Join(b.root, "boot_id"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(id))
	}
	before := boot()
	if err := os.Remove(stuck); err != nil {
		t.Fatal(err)
	}
	now := ""
	if !labtest.Eventually(func() bool { now = boot(); return now != before && now != "" }) {
		t.Fatal("the DUT does not come up")
	}
	return now
}

// TestInterruptedBoot: a study that ends while its DUT boots waits for the boot, and restores the DUT.
func TestInterruptedBoot(t *testing.T) {
	b := faultBench(t)
	was := b.snapshot(t)
	for what, variant := range map[string][]setting.Setting{"a variant": changed[1:2], "no variant": nil} {
		o := b.options(t)
		o.Tree, o.Reset, o.inject = tree, Reboot, boots
		said := 0
		o.Say = func(format string, _ ...any) {
			if strings.Contains(format, "waiting for it") {
				said++
			}
		}
		bed, err := Up(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bed.Reset(t.Context(), variant); err != nil {
			t.Fatal(err)
		}
		ran, err := os.ReadFile(filepath.Join(b.root, "boot_id"))
		if err != nil {
			t.Fatal(err)
		}
		if bed.id.Boot != string(ran) {
			t.Errorf("%s: boot %q runs, and the bed knows %q", what, ran, bed.id.Boot)
		}
		bed.id.Boot = "first" // the last boot that it saw
		stuck := filepath.Join(b.root, "stuck")
		if err := os.WriteFile(stuck, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		late := time.AfterFunc(5*time.Second, func() { os.Remove(stuck) }) // a boot takes a while
		down := &absent{Conn: bed.o.DUT, calls: 3}
		bed.o.DUT = down
		err = bed.Close()
		late.Stop() // must not affect the next case
		os.Remove(stuck)
		if now, _ := os.ReadFile(filepath.Join(b.root, "boot_id")); what == "a variant" && string(now) == string(ran) {
			t.Errorf("%s: boot %q has read the files, but is treated as if it had not", what, ran)
		}
		if err != nil || down.calls > 0 || said != 1 {
			t.Errorf("%s: %v, %d calls left, told %d times", what, err, down.calls, said)
		}
		_ = os.WriteFile(filepath.Join(b.root, "boot_id"), []byte("first\n"), 0o640)
		eq(t, "the DUT, after "+what, b.snapshot(t), was)
	}
}

// TestLeavingIsTriedAlone: a restored DUT that becomes unreachable when it is released is not booted
// once more.
func TestLeavingIsTriedAlone(t *testing.T) {
	b := faultBench(t)
	o := b.options(t)
	o.Tree, o.Reset, o.inject = tree, Reboot, boots
	bed, err := Up(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bed.Reset(t.Context(), changed[1:2]); err != nil {
		t.Fatal(err)
	}
	booted := bed.reboots
	lost := &losing{Conn: bed.o.DUT, verb: "leave", calls: 2}
	bed.o.DUT = lost
	if err := bed.Close(); err != nil || lost.calls != 0 || bed.reboots != booted+1 {
		t.Errorf("%v, %d calls left, %d boots to restore it", err, lost.calls, bed.reboots-booted)
	}
}

// losing is a machine that becomes unreachable, a given number of times, on one command.
type losing struct {
	Conn
	verb  string
	calls int
}

func (c *losing) Run(ctx context.Context, script string, args []string, stdin []byte) ([]byte, error) {
	if len(args) > 0 && args[0] == c.verb && c.calls > 0 {
		c.calls--
		return nil, errors.New("no answer in 10s")
	}
	return c.Conn.Run(ctx, script, args, stdin)
}

// deafening loses the answer of every reboot.
type deafening struct{ Conn }

func (c *deafening) Run(ctx context.Context, script string, args []string, stdin []byte) ([]byte, error) {
	out, err := c.Conn.Run(ctx, script, args, stdin)
	if len(args) > 0 && args[0] == "reboot" {
		return nil, errors.New("the connection was lost before the end")
	}
	return out, err
}

// silent is a machine that never answers the first call.
type silent struct {
	Conn
	t     *testing.T
	asked bool
}

func (c *silent) Run(ctx context.Context, script string, args []string, stdin []byte) ([]byte, error) {
	if c.asked {
		return c.Conn.Run(ctx, script, args, stdin)
	}
	c.asked = true
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(time.Minute):
		c.t.Error("waiting for the machine does not end")
		return nil, errors.New("the test's end")
	}
}

// absent is a machine that is unreachable for a number of calls.
type absent struct {
	Conn
	calls int
}

func (c *absent) Run(ctx context.Context, script string, args []string, stdin []byte) ([]byte, error) {
	if c.calls--; c.calls >= 0 {
		return nil, errors.New("no answer in 10s")
	}
	return c.Conn.Run(ctx, script, args, stdin)
}

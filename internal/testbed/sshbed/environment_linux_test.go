package sshbed

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/labtest"
	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// environments emulates FreeBSD 14's bectl(8) and loader: the files running, lasting, once and lent of
// the tree say which boot environment runs, is the default, boots once, and whether the running one
// was booted once. bectl's output is copied from a real system.
const environments = boots + `
down() { reboot; }
image_way() { freebsd_way "$1"; }
insure() { boot_name >"$S/bed.boot"; }
nextboot() { return 1; }
sysrc() { cat "$ROOT/bootonce_activate" 2>/dev/null; }
kenv() { cat "$ROOT/lent" 2>/dev/null; }
bectl() {
	case $1${2-} in
	list-H)
		for e in be1 "be.2" default; do
			f=''
			[ "$(cat "$ROOT/running")" != "$e" ] || f=N
			[ "$(cat "$ROOT/lasting")" != "$e" ] || f=${f}R
			[ "$(cat "$ROOT/once" 2>/dev/null)" != "$e" ] || f=${f}T
			printf '%s\t%s\t-\t8.00K\t2026-11-22 07:00\n' "$e" "${f:--}"
		done ;;
	activate-t) echo "$3" >"$ROOT/once" && echo "Successfully activated boot environment $3" && echo "for next boot" ;;
	activate-T) rm -f "$ROOT/once" && echo "Temporary activation removed" ;;
	activate*) echo "$2" >"$ROOT/lasting" ;;
	esac
}
load() {
	rm -f "$ROOT/lent"
	cat "$ROOT/lasting" >"$ROOT/running"
	[ ! -e "$ROOT/deaf" ] || rm -f "$ROOT/once"
	if [ -e "$ROOT/once" ]; then cat "$ROOT/once" >"$ROOT/running"; mv "$ROOT/once" "$ROOT/lent"; fi
	[ ! -e "$ROOT/greedy" ] || cat "$ROOT/running" >"$ROOT/lasting"
}
`

// environmentBench is a bench whose DUT has boot environments.
type environmentBench struct{ *bench }

func newEnvironmentBench(t *testing.T) environmentBench {
	t.Parallel()
	if testing.Short() {
		labtest.Lacking(t, "minutes on a busy machine")
	}
	b := environmentBench{faultBench(t)}
	b.put(t, "running", "default\n")
	b.put(t, "lasting", "default\n")
	return b
}

func (b environmentBench) put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(b.root, name), []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

func (b environmentBench) get(name string) string {
	data, _ := os.ReadFile(filepath.Join(b.root, name))
	return strings.TrimSpace(string(data))
}

// runs checks that the boot environment running runs, and that default is the default.
func (b environmentBench) runs(t *testing.T, running string) {
	t.Helper()
	if r, l := b.get("running"), b.get("lasting"); r != running || l != "default" {
		t.Errorf("%q runs and %q is the default; want %s and default", r, l, running)
	}
}

func (b environmentBench) up(t *testing.T) *Bed {
	return b.bench.up(t, b.boots)
}

func (b environmentBench) boots(o *Options) {
	o.Reset, o.Tree = Reboot, tree
	o.inject = strings.Replace(environments, "\n	od -An", "\n	load\n	od -An", 1)
}

func images(name string) []setting.Setting {
	return []setting.Setting{{Mechanism: setting.Image, Name: name}}
}

// TestBootEnvironments boots ZFS boot environments, one from another, and finally the default.
func TestBootEnvironments(t *testing.T) {
	b := newEnvironmentBench(t)
	ctx := context.Background()
	was := b.snapshot(t)
	bed := b.up(t)
	for _, name := range []string{"be1", "be.2", "be1"} {
		a, err := bed.Reset(ctx, images(name))
		if err != nil || a.Boot == nil || a.ReadBack["image "+name] != "yes" || len(a.NotTaken) != 0 {
			t.Fatalf("%s: %+v, %v", name, a, err)
		}
		b.runs(t, name)
	}
	if _, err := bed.Reset(ctx, nil); err != nil {
		t.Fatal(err)
	}
	b.runs(t, "default")
	b.put(t, "deaf", "")
	if a, err := bed.Reset(ctx, images("be1")); err != nil || len(a.NotTaken) != 1 || !strings.Contains(a.NotTaken[0], `what booted is "default"`) {
		t.Errorf("a loader that ignores the one-time boot: %+v, %v", a, err)
	}
	_ = os.Remove(filepath.Join(b.root, "deaf"))
	// Its rc.conf makes the one-time environment permanent.
	b.put(t, "greedy", "")
	if a, err := bed.Reset(ctx, images("be1")); err != nil || len(a.NotTaken) != 0 {
		t.Errorf("%+v, %v", a, err)
	}
	b.runs(t, "be1")
	_ = os.Remove(filepath.Join(b.root, "greedy"))
	if err := bed.Close(); err != nil {
		t.Error(err)
	}
	b.runs(t, "default")
	b.put(t, "boot_id", "first\n")
	eq(t, "the DUT", b.snapshot(t), was)
}

// TestBootEnvironmentsRefused: what is refused on a DUT with boot environments.
func TestBootEnvironmentsRefused(t *testing.T) {
	b := newEnvironmentBench(t)
	bed := b.up(t)
	for _, c := range []struct{ file, text, image, want string }{
		{"boot_id", "first\n", "none", "no boot environment none, and no kernel /boot/none"},
		{"boot_id", "first\n", "be", "no boot environment be,"},
		{"once", "be.2\n", "be1", "somebody has prepared a boot already"},
		{"lasting", "be.2\n", "be1", "somebody has prepared a boot already"},
		{"bootonce_activate", "YES\n", "be1", "zfs_bootonce_activate"},
	} {
		before := b.get(c.file)
		b.put(t, c.file, c.text)
		_, err := bed.Reset(context.Background(), images(c.image))
		var un *testbed.ErrUnavailable
		if !errors.As(err, &un) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %s %q: %v, want %q", c.image, c.file, c.text, err, c.want)
		}
		if now := b.get(c.file); now != strings.TrimSpace(c.text) {
			t.Errorf("%s is %q now", c.file, now)
		}
		if before == "" {
			_ = os.Remove(filepath.Join(b.root, c.file))
		} else {
			b.put(t, c.file, before+"\n")
		}
	}
	if err := bed.Close(); err != nil {
		t.Error(err)
	}
	b.runs(t, "default")
}

// TestBootEnvironmentLeft: the controller dies while an image of its study runs. Other studies must not
// measure in it, readers must leave the machine's way back alone, and the resumed study boots the
// default, even if it is stopped at once.
func TestBootEnvironmentLeft(t *testing.T) {
	b := newEnvironmentBench(t)
	ctx := context.Background()
	was := b.snapshot(t)
	o := b.options(t)
	b.boots(&o)
	bed, err := Up(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bed.Reset(ctx, images("be1")); err != nil {
		t.Fatal(err)
	}
	bed.lock.Close() // the controller dies here
	o = b.options(t)
	b.boots(&o)
	o.Reset = Settings
	if other, err := Up(ctx, o); err == nil || !strings.Contains(err.Error(), "runs an image booted by a study") {
		t.Errorf("a study of settings: %v, %v", other, err)
	}
	b.runs(t, "be1")
	if b.get("var/lib/linerate/bed.boot") == "" {
		t.Error("the machine has no default boot environment left")
	}
	if err := b.up(t).Close(); err != nil {
		t.Error(err)
	}
	b.runs(t, "default")
	b.put(t, "boot_id", "first\n")
	eq(t, "the DUT", b.snapshot(t), was)
}

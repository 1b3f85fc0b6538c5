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

// grubs emulates GRUB: what grub-reboot writes is read, and cleared, by the next boot of the tree of
// files (boots).
const grubs = boots + `
down() { reboot; }
image_way() { echo grub; }
cmdline() { cat "$ROOT/cmdline"; }
grub_once() { echo "next_entry=$1" >"$ROOT/boot/grub/grubenv"; }
grub_never() { : >"$ROOT/boot/grub/grubenv"; }
load() {
	n=$(sed -n 's/^next_entry=//p' "$ROOT/boot/grub/grubenv") && : >"$ROOT/boot/grub/grubenv"
	[ ! -e "$ROOT/deaf" ] || n=''
	case $n in other) echo "BOOT_IMAGE=(hd0,gpt1)/boot/vmlinuz-6.2 root=/dev/sda1 mitigations=off" ;; *) echo "BOOT_IMAGE=(hd0,gpt1)/boot/vmlinuz-6.1 root=/dev/sda1 quiet" ;; esac >"$ROOT/cmdline"
}
`

const grubCfg = `menuentry 'Debian' --class debian --id 'usual' {
	linux	/boot/vmlinuz-6.1 root=/dev/sda1 quiet
}
menuentry 'Another' --id 'other' {
	linux	/boot/vmlinuz-6.2 root=/dev/sda1 mitigations=off
	initrd	/boot/initrd.img-6.2
}
`

// TestImages boots another image for a trial, and the default after it.
func TestImages(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		labtest.Lacking(t, "minutes on a busy machine")
	}
	b := faultBench(t)
	ctx := context.Background()
	for name, text := range map[string]string{"boot/grub/grub.cfg": grubCfg, "boot/grub/grubenv": "", "cmdline": "BOOT_IMAGE=(hd0,gpt1)/boot/vmlinuz-6.1 root=/dev/sda1 quiet\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(b.root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(b.root, name), []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	was := b.snapshot(t)
	bed := b.up(t, func(o *Options) {
		o.Reset, o.Tree = Reboot, tree
		o.inject = strings.Replace(grubs, "\n	od -An", "\n	load\n	od -An", 1)
	})
	image := func(name string) []setting.Setting {
		return []setting.Setting{{Mechanism: setting.Image, Name: name}}
	}
	a, err := bed.Reset(ctx, image("other"))
	if err != nil {
		t.Fatal(err)
	}
	if a.Boot == nil || a.ReadBack["image other"] != "yes" || len(a.NotTaken) != 0 {
		t.Errorf("%+v", a)
	}
	for name, want := range map[string]string{"none": "GRUB has no entry none", "../x": "by its name", "a'b": "by its name"} {
		_, err := bed.Reset(ctx, image(name))
		var un *testbed.ErrUnavailable
		if !errors.As(err, &un) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	var un *testbed.ErrUnavailable
	if _, err = bed.Reset(ctx, append(image("other"), changed[1])); !errors.As(err, &un) {
		t.Errorf("beside files: %v", err)
	}
	// A boot loader that ignores the one-time entry.
	deaf := filepath.Join(b.root, "deaf")
	if err := os.WriteFile(deaf, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if a, err = bed.Reset(ctx, image("other")); err != nil || len(a.NotTaken) != 1 || !strings.Contains(a.NotTaken[0], "vmlinuz-6.1") {
		t.Errorf("%+v, %v", a, err)
	}
	_ = os.Remove(deaf)
	// A one-time boot prepared by somebody else is left alone.
	env := filepath.Join(b.root, "boot/grub/grubenv")
	if err := os.WriteFile(env, []byte("next_entry=theirs\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err = bed.Reset(ctx, image("other")); !errors.As(err, &un) || !strings.Contains(err.Error(), "somebody has prepared a boot already") {
		t.Errorf("a one-time boot of somebody else: %v", err)
	}
	if data, _ := os.ReadFile(env); string(data) != "next_entry=theirs\n" {
		t.Errorf("it is %q now", data)
	}
	if err := os.WriteFile(env, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := bed.Close(); err != nil {
		t.Error(err)
	}
	_ = os.WriteFile(filepath.Join(b.root, "boot_id"), []byte("first\n"), 0o640)
	eq(t, "the DUT", b.snapshot(t), was)
}

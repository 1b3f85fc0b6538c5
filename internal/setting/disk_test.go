package setting

import (
	"slices"
	"strings"
	"testing"
)

func TestDisks(t *testing.T) {
	good := []Disk{DefaultDisk(), {Type: "xfs", Options: "noatime,logbsize=256k", Size: DefaultDiskSize}, {Type: "ext4", Features: "^has_journal", Size: MinDisk}, {Type: "tmpfs", Size: MinDisk}}
	for _, d := range good {
		if err := d.Check(); err != nil {
			t.Errorf("%v: %v", d, err)
		}
	}
	for name, d := range map[string]Disk{
		"an unknown one": {Type: "ext5", Size: DefaultDiskSize}, "an option of two lines": {Type: "ext4", Options: "a\nb", Size: DefaultDiskSize},
		"a path": {Type: "ext4", Options: "journal_path=/dev/vda", Size: DefaultDiskSize}, "features of XFS": {Type: "xfs", Features: "^x", Size: DefaultDiskSize},
		"a flag of mkfs": {Type: "ext4", Features: "-d /etc", Size: DefaultDiskSize}, "an XFS that mkfs refuses": {Type: "xfs", Size: 300<<20 - 1}, "a btrfs that mkfs refuses": {Type: "btrfs", Size: 64 << 20},
		"a tmpfs sized twice": {Type: "tmpfs", Options: "size=64m,sync", Size: MinDisk}, "a tmpfs sized in blocks": {Type: "tmpfs", Options: "nr_blocks=9", Size: MinDisk},
		"a small one": {Type: "ext4", Size: 1}, "a large one": {Type: "ext4", Size: 1 << 50},
	} {
		if err := d.Check(); err == nil {
			t.Errorf("%s is taken: %v", name, d)
		}
	}
	if argv := good[2].Make("/dev/loop9"); argv[0] != "mkfs.ext4" || argv[len(argv)-1] != "/dev/loop9" || argv[len(argv)-2] != "^has_journal" {
		t.Errorf("made by %q", argv)
	}
	if good[3].Loop() || good[3].Make("x") != nil {
		t.Error("a tmpfs is on a device")
	}
}

// TestBounds: what is refused just beyond them is taken at them.
func TestBounds(t *testing.T) {
	long := strings.Repeat("a", 200)
	for name, c := range map[string]struct {
		d    Disk
		fine bool
	}{
		"the largest": {Disk{Type: "ext4", Size: MaxDisk}, true}, "a larger one": {Disk{Type: "ext4", Size: MaxDisk + 1}, false}, "the smallest XFS": {Disk{Type: "xfs", Size: 300 << 20}, true}, "a smaller one": {Disk{Type: "ext4", Size: MinDisk - 1}, false},
		"200 bytes of options": {Disk{Type: "ext4", Options: long, Size: MinDisk}, true}, "201": {Disk{Type: "ext4", Options: long + "a", Size: MinDisk}, false},
		"100 bytes of features": {Disk{Type: "ext2", Features: long[:100], Size: MinDisk}, true}, "101": {Disk{Type: "ext2", Features: long[:101], Size: MinDisk}, false},
		"size of another file system": {Disk{Type: "ext4", Options: "size=5", Size: MinDisk}, true}, "an option of tmpfs": {Disk{Type: "tmpfs", Options: "huge=always", Size: MinDisk}, true},
		"an empty option": {Disk{Type: "ext4", Options: "noatime,", Size: MinDisk}, false}, "features of a tmpfs": {Disk{Type: "tmpfs", Features: "x", Size: MinDisk}, false},
	} {
		if err := c.d.Check(); (err == nil) != c.fine {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMakers: each file system but tmpfs is made on the device that is given last, and
// mke2fs alone needs to be told to write its zeros.
func TestMakers(t *testing.T) {
	for _, kind := range DiskTypes {
		d := Disk{Type: kind, Size: DefaultDiskSize}
		argv := d.Make("/dev/loop9")
		if made := len(argv) > 0; made != d.Loop() || made && (argv[0] != "mkfs."+kind || argv[len(argv)-1] != "/dev/loop9" || slices.Contains(argv, "-O")) {
			t.Errorf("%s is made by %q", kind, argv)
		}
		if (d.Environ() != nil) != strings.HasPrefix(kind, "ext") || d.String() != kind {
			t.Errorf("%s: %q, %q", kind, d.Environ(), d)
		}
		if d.Package() != map[string]string{"xfs": "xfsprogs", "btrfs": "btrfs-progs"}[kind] {
			t.Errorf("%s is of the package %q", kind, d.Package())
		}
	}
	d := DefaultDisk()
	d.Options = "noatime,data=journal"
	if got := d.List(); !slices.Equal(got, []string{"noatime", "data=journal"}) || DefaultDisk().List() != nil {
		t.Errorf("%q", got)
	}
}

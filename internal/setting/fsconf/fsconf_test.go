package fsconf

import "testing"

func TestDisks(t *testing.T) {
	good := []Disk{Default(), {Type: "xfs", Options: "noatime,logbsize=256k", Size: DefaultSize}, {Type: "ext4", Features: "^has_journal", Size: MinSize}, {Type: "tmpfs", Size: MinSize}}
	for _, d := range good {
		if err := d.Check(); err != nil {
			t.Errorf("%v: %v", d, err)
		}
	}
	for name, d := range map[string]Disk{
		"an unknown one": {Type: "ext5", Size: DefaultSize}, "an option of two lines": {Type: "ext4", Options: "a\nb", Size: DefaultSize},
		"a path": {Type: "ext4", Options: "journal_path=/dev/vda", Size: DefaultSize}, "features of XFS": {Type: "xfs", Features: "^x", Size: DefaultSize},
		"a flag of mkfs": {Type: "ext4", Features: "-d /etc", Size: DefaultSize}, "an XFS that mkfs refuses": {Type: "xfs", Size: 300<<20 - 1}, "a btrfs that mkfs refuses": {Type: "btrfs", Size: 64 << 20},
		"a tmpfs sized twice": {Type: "tmpfs", Options: "size=64m,sync", Size: MinSize}, "a tmpfs sized in blocks": {Type: "tmpfs", Options: "nr_blocks=9", Size: MinSize},
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

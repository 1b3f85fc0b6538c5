package setting

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/lazy"
)

// Disk is a file system in an image file, or in memory.
type Disk struct {
	Type string `json:"type" yaml:"type"` // one of DiskTypes
	// Options are those of mount(8), separated by commas: "noatime,data=journal".
	Options string `json:"options,omitempty" yaml:"options,omitempty"`
	// Features are those of mkfs (-O of ext4): "^has_journal".
	Features string `json:"features,omitempty" yaml:"features,omitempty"`
	Size     int64  `json:"size" yaml:"size"` // bytes
}

// DiskTypes lists the file systems. A tmpfs is in memory, the others on a loop device.
var DiskTypes = []string{"btrfs", "ext2", "ext3", "ext4", "tmpfs", "xfs"}

// leastDisk is the smallest size that mkfs accepts, if larger than MinDisk (mkfs.xfs(8) 6.1,
// mkfs.btrfs(8) 6.2).
var leastDisk = map[string]int64{"xfs": 300 << 20, "btrfs": 109 << 20}

// Limits and default of Disk.Size.
const (
	MinDisk         = 16 << 20
	MaxDisk         = 8 << 30
	DefaultDiskSize = 512 << 20
)

var (
	optionRE  = lazy.Regexp(`^[a-z0-9_]+(=[a-z0-9_]+)?$`)
	featureRE = lazy.Regexp(`^(\^?[a-z0-9_]+(,\^?[a-z0-9_]+)*)?$`)
)

// sizing lists the options of tmpfs(5) that limit its content; Disk itself sets size=.
var sizing = []string{"size", "nr_blocks"}

// DefaultDisk returns the file system of a study that does not specify one.
func DefaultDisk() Disk { return Disk{Type: "ext4", Size: DefaultDiskSize} }

// Check returns an error for what a study may not set.
func (d Disk) Check() error {
	if !slices.Contains(DiskTypes, d.Type) {
		return hint.Unknown("file system", d.Type, DiskTypes)
	}
	for _, o := range d.List() {
		if !optionRE().MatchString(o) {
			return fmt.Errorf("%q is not a mount option", o)
		}
		if name, _, _ := strings.Cut(o, "="); d.Type == "tmpfs" && slices.Contains(sizing, name) {
			return hint.With(fmt.Errorf("the option %q would set the file system's size a second time", o), "write size: 64MiB next to type and options")
		}
	}
	if len(d.Options) > 200 {
		return fmt.Errorf("%d bytes of options", len(d.Options))
	}
	if !featureRE().MatchString(d.Features) || len(d.Features) > 100 || d.Features != "" && !d.ext() {
		return hint.With(fmt.Errorf("%s has no features %q", d.Features, d.Type), "features are mke2fs's, for instance ^has_journal")
	}
	if low := max(MinDisk, leastDisk[d.Type]); d.Size < low || d.Size > MaxDisk {
		return fmt.Errorf("a file system of type %s of %d bytes: from %d to %d", d.Type, d.Size, low, MaxDisk)
	}
	return nil
}

func (d Disk) ext() bool { return strings.HasPrefix(d.Type, "ext") }

// Loop reports whether it is on a loop device.
func (d Disk) Loop() bool { return d.Type != "tmpfs" }

// List returns the options.
func (d Disk) List() []string {
	if d.Options == "" {
		return nil
	}
	return strings.Split(d.Options, ",")
}

// Make returns the command that creates the file system on a device. It writes inode tables and
// journals immediately: later writes by the kernel would disturb the measurement.
func (d Disk) Make(device string) []string {
	switch {
	case d.ext():
		argv := []string{"mkfs." + d.Type, "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard"}
		if d.Features != "" {
			argv = append(argv, "-O", d.Features)
		}
		return append(argv, device)
	case d.Type == "xfs":
		return []string{"mkfs.xfs", "-q", "-f", "-K", device}
	case d.Type == "btrfs":
		return []string{"mkfs.btrfs", "-q", "-f", "-K", device}
	}
	return nil
}

// Environ returns the environment that Make's command needs: otherwise mke2fs allocates the
// journal's zeros in the image without writing them (unix_zeroout in e2fsprogs,
// lib/ext2fs/unix_io.c). Until the journal has wrapped once each fsync(2) then also waits for that
// of the underlying file system, and a server seems to get faster.
func (d Disk) Environ() []string {
	if d.ext() {
		return []string{"UNIX_IO_NOZEROOUT=1"}
	}
	return nil
}

// Package returns the Debian package with the command.
func (d Disk) Package() string {
	return map[string]string{"xfs": "xfsprogs", "btrfs": "btrfs-progs"}[d.Type]
}

// String describes the file system.
func (d Disk) String() string {
	out := d.Type
	if d.Features != "" {
		out += " made with " + d.Features
	}
	if d.Options != "" {
		out += ", mounted " + d.Options
	}
	return out
}

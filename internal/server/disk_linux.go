package server

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"linerate/internal/hint"
	"linerate/internal/setting"
)

// DiskDir is where a Box's file system is mounted, below Root.
const DiskDir = "disk"

// imageDir holds file system images; it should be on a disk.
const imageDir = "/var/tmp"

// MakeDisk creates a file system in the Box and mounts it at DiskDir, only in the Box's mount
// namespace. The image is an unnamed file, and the loop device is freed with the last mount:
// nothing outlives the Box, however linerate ends. fill, if not nil, is called before a remount
// with sync, to avoid the cost of synchronous writes. dirsync is set from the start: Linux silently
// ignores it in a remount (MS_RMT_MASK).
func (b *Box) MakeDisk(d setting.Disk, fill func() error) error {
	if err := d.Check(); err != nil {
		return err
	}
	if err := b.Mkdir(DiskDir, 0o755); err != nil {
		return err
	}
	flags, data := mountOptions(d)
	if err := b.mountNew(d, flags&^slow, data); err != nil {
		return err
	}
	if fill != nil {
		if err := fill(); err != nil {
			return err
		}
	}
	if flags&slow == 0 {
		return nil
	}
	return b.mount("", d, flags|unix.MS_REMOUNT, data)
}

// slow is the flag that makes every write wait for the disk.
const slow = unix.MS_SYNCHRONOUS

// mountNew creates the file system and mounts it.
func (b *Box) mountNew(d setting.Disk, flags uintptr, data string) error {
	if !d.Loop() {
		return b.mount("linerate", d, flags, joinOptions(data, fmt.Sprintf("size=%d", d.Size)))
	}
	dev, err := loopDevice(d.Size)
	if err != nil {
		return err
	}
	defer dev.Close() // the mount now holds it
	if err := b.mkfs(d, dev.Name()); err != nil {
		return err
	}
	return b.mount(dev.Name(), d, flags, data)
}

func (b *Box) mount(what string, d setting.Disk, flags uintptr, data string) error {
	err := b.Do(func() error {
		err := unix.Mount(what, Root+"/"+DiskDir, d.Type, flags|unix.MS_NOSUID|unix.MS_NODEV, data)
		b.disk = b.disk || err == nil // a failed remount does not unmount
		return err
	})
	switch {
	case errors.Is(err, unix.ENODEV):
		return &CannotError{"the kernel has no " + d.Type}
	case errors.Is(err, unix.EINVAL):
		return &CannotError{fmt.Sprintf("the kernel cannot mount %s", d)}
	case err != nil:
		return fmt.Errorf("mount %s: %w", d, err)
	}
	return nil
}

// SyncDisk waits until everything written to the Box's disk is stored (syncfs(2)).
func (b *Box) SyncDisk() error {
	path, err := b.Path(DiskDir)
	if err != nil {
		return err
	}
	d, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open the disk: %w", err)
	}
	defer d.Close()
	if err := unix.Syncfs(int(d.Fd())); err != nil {
		return fmt.Errorf("write the disk's rest: %w", err)
	}
	return nil
}

// CannotError means that this machine cannot do something.
type CannotError struct{ What string }

func (e *CannotError) Error() string { return e.What }

// mkfs creates the file system. The command ends with the Box's thread.
func (b *Box) mkfs(d setting.Disk, device string) error {
	argv := d.Make(device)
	program := Program{Name: argv[0], Package: d.Package()}
	path, err := program.find()
	if err != nil {
		return missing(err)
	}
	c := exec.Command(path, argv[1:]...)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL}
	c.Env = append(os.Environ(), d.Environ()...)
	var out []byte
	err = b.Do(func() (err error) {
		out, err = c.CombinedOutput()
		return err
	})
	if err != nil {
		return fmt.Errorf("make a file system (%s): %w: %.300s", d, err, out)
	}
	return nil
}

// loopDevice attaches a sparse image of a given size to a free loop device.
func loopDevice(size int64) (*os.File, error) {
	image, err := newImage(size)
	if err != nil {
		return nil, err
	}
	defer unix.Close(image) // the device now holds it
	return attach(image)
}

// newImage creates an unnamed file.
func newImage(size int64) (image int, err error) {
	image, err = unix.Open(imageDir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return 0, fmt.Errorf("make an image of a file system in %s: %w", imageDir, err)
	}
	if err := unix.Ftruncate(image, size); err != nil {
		unix.Close(image)
		return 0, fmt.Errorf("make an image of %d bytes: %w", size, err)
	}
	return image, nil
}

// attach finds a free loop device for an image.
func attach(image int) (*os.File, error) {
	control, err := unix.Open("/dev/loop-control", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, hint.With(&CannotError{"there are no loop devices: " + err.Error()}, "load the kernel's module loop (modprobe loop)")
	}
	defer unix.Close(control)
	for range 64 { // others may take it first
		n, err := unix.IoctlRetInt(control, unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return nil, fmt.Errorf("find a free loop device: %w", err)
		}
		dev, err := os.OpenFile(fmt.Sprintf("/dev/loop%d", n), os.O_RDWR, 0)
		if err != nil {
			return nil, fmt.Errorf("open a loop device: %w", err)
		}
		config := unix.LoopConfig{Fd: uint32(image), Info: unix.LoopInfo64{Flags: unix.LO_FLAGS_AUTOCLEAR}}
		if err = unix.IoctlLoopConfigure(int(dev.Fd()), &config); err == nil {
			return dev, nil
		}
		dev.Close()
		if !errors.Is(err, unix.EBUSY) {
			return nil, fmt.Errorf("set up %s: %w", dev.Name(), err)
		}
	}
	return nil, errors.New("no free loop device: others took them")
}

// mountFlags maps options to flags of mount(2).
var mountFlags = map[string]uintptr{
	"noatime": unix.MS_NOATIME, "relatime": unix.MS_RELATIME, "strictatime": unix.MS_STRICTATIME, "nodiratime": unix.MS_NODIRATIME,
	"lazytime": unix.MS_LAZYTIME, "sync": unix.MS_SYNCHRONOUS, "dirsync": unix.MS_DIRSYNC, "defaults": 0, "async": 0,
}

// mountOptions splits options into flags and file system options.
func mountOptions(d setting.Disk) (flags uintptr, data string) {
	for _, o := range d.List() {
		if f, ok := mountFlags[o]; ok {
			flags |= f
			continue
		}
		data = joinOptions(data, o)
	}
	return flags, data
}

func joinOptions(a, b string) string {
	if a == "" {
		return b
	}
	return a + "," + b
}

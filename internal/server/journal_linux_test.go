package server

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"linerate/internal/labtest"
	"linerate/internal/setting"
)

// TestTheJournalIsOnTheDiskBelow: if the journal's blocks were holes, or allocated but unwritten, each fsync(2)
// would also wait for the file system below until the journal has wrapped once, and a server would seem to
// get faster.
func TestTheJournalIsOnTheDiskBelow(t *testing.T) {
	if os.Geteuid() != 0 {
		labtest.Lacking(t, "it needs root: it makes a loop device")
	}
	labtest.Lock(t) // disks of other tests are counted
	box, err := NewBox(func(f func() error) error {
		runtime.LockOSThread() // it ends with its namespaces
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return err
		}
		return f()
	})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	d := setting.DefaultDisk()
	image, err := newImage(d.Size)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(image)
	dev, err := attach(image)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if err := box.mkfs(d, dev.Name()); err != nil {
		t.Fatal(err)
	}
	if err := unix.Fsync(image); err != nil {
		t.Fatal(err)
	}
	const journal = 16 << 20 // of a file system of 512 MiB
	if n := written(t, image); n < journal {
		t.Errorf("%d bytes of the image are written, want more than its journal's %d", n, journal)
	}
}

// written returns how much of a file is data, neither holes nor unwritten extents.
func written(t *testing.T, fd int) (sum int64) {
	t.Helper()
	for end := int64(0); ; {
		begin, err := unix.Seek(fd, end, unix.SEEK_DATA)
		if err == unix.ENXIO {
			return sum
		}
		if err == nil {
			end, err = unix.Seek(fd, begin, unix.SEEK_HOLE)
		}
		if err != nil {
			t.Fatal(err)
		}
		sum += end - begin
	}
}

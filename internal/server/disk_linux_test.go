package server_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/labtest"
	"linerate/internal/port"
	"linerate/internal/server"
	"linerate/internal/setting"
)

func disk(kind, options string) setting.Disk {
	d := setting.DefaultDisk()
	d.Type, d.Options = kind, options
	return d
}

// images returns the unnamed files that loop devices are attached to, which back linerate's disks.
func images(t *testing.T) (out []string) {
	t.Helper()
	all, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if name, err := os.ReadFile(f); err == nil && strings.HasPrefix(string(name), "/var/tmp/#") {
			out = append(out, string(name))
		}
	}
	return out
}

// emptied waits until there are no more disks than before.
func emptied(t *testing.T, before []string) {
	t.Helper()
	if !labtest.Eventually(func() bool { return len(images(t)) <= len(before) }) {
		t.Errorf("loop devices are left: %v, before %v", images(t), before)
	}
}

// outside fails if a Box's disk is mounted for the process that started this test.
func outside(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", os.Getppid()))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), " /tmp/"+server.DiskDir+" ") {
		t.Errorf("mounts outside are\n%s", text)
	}
}

// TestADiskIsTheBoxesOwn: a disk's files are inside, its mount is not visible outside, and its device is removed.
func TestADiskIsTheBoxesOwn(t *testing.T) {
	need(t)
	labtest.Lock(t) // disks of other tests would be counted
	before := images(t)
	for _, d := range []setting.Disk{disk("ext4", "noatime,data=journal"), {Type: "ext4", Features: "^has_journal", Size: setting.DefaultDiskSize}, disk("ext2", "sync"), disk("ext4", "dirsync"), disk("xfs", ""), disk("tmpfs", ""), {Type: "tmpfs", Options: "sync,noatime", Size: setting.MinDisk}} {
		t.Run(d.String(), func(t *testing.T) {
			box := newBox(t)
			var held unix.Statfs_t
			if err := box.MakeDisk(d, nil); err != nil {
				var m *server.MissingError
				if errors.As(err, &m) {
					labtest.Lacking(t, "%v", err)
				}
				t.Fatal(err)
			}
			if err := box.Write(server.DiskDir+"/x", []byte("within"), 0o644); err != nil {
				t.Error(err)
			}
			if path, err := box.Path(server.DiskDir); err != nil {
				t.Error(err)
			} else if err := unix.Statfs(path, &held); err != nil || held.Blocks*uint64(held.Bsize) > uint64(d.Size) || 2*held.Blocks*uint64(held.Bsize) < uint64(d.Size) {
				t.Errorf("it holds %d bytes of %d, %v", held.Blocks*uint64(held.Bsize), d.Size, err)
			}
			if d.Loop() && len(images(t)) <= len(before) {
				t.Error("it is on no loop device")
			}
			var inside string
			err := box.Do(func() error {
				text, err := os.ReadFile("/proc/thread-self/mountinfo")
				inside = string(text)
				return err
			})
			if err != nil || !strings.Contains(inside, " /tmp/disk ") || !strings.Contains(inside, d.Type) {
				t.Errorf("mounts within: %v\n%s", err, inside)
			}
			for _, o := range d.List() {
				if !strings.Contains(inside, o) {
					t.Errorf("it is not mounted %s:\n%s", o, inside)
				}
			}
			outside(t)
			if err := box.Close(); err != nil {
				t.Error(err)
			}
			emptied(t, before)
		})
	}
}

func TestADiskThatCannotBe(t *testing.T) {
	need(t)
	var cannot *server.CannotError
	if err := newBox(t).MakeDisk(disk("ext4", "no_such_option"), nil); !errors.As(err, &cannot) {
		t.Errorf("an option that the kernel has not: %v", err)
	}
	if err := newBox(t).MakeDisk(disk("ntfs", ""), nil); err == nil {
		t.Error("ntfs was made")
	}
}

// TestNoDiskIsLeftWhenLinerateIsKilled.
func TestNoDiskIsLeftWhenLinerateIsKilled(t *testing.T) {
	need(t)
	if err := server.MailInstalled(); err != nil {
		labtest.Lacking(t, "%v", err)
	}
	if os.Getenv(asHost) != "" {
		box, err := server.NewBox(port.Place(inside))
		if err != nil {
			t.Fatal(err)
		}
		if err := box.MakeDisk(disk("ext4", ""), nil); err != nil {
			t.Fatal(err)
		}
		p, err := box.StartMail(t.Context(), setting.Mail{Accounts: 3}, server.DiskDir, loopback)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("PIDS", strings.Trim(fmt.Sprint(p.PIDs()), "[]"))
		time.Sleep(time.Minute)
		return
	}
	labtest.Lock(t) // disks of other tests would be counted
	before := images(t)
	c := exec.Command(os.Args[0], "-test.run", "^TestNoDiskIsLeftWhenLinerateIsKilled$", "-test.v")
	c.Env = append(os.Environ(), asHost+"=1")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	pids := readPIDs(t, out)
	if len(images(t)) != len(before)+1 || len(pids) < 3 {
		t.Errorf("images %v, processes %v: want one more than %v, and a master with others", images(t), pids, before)
	}
	if err := c.Process.Kill(); err != nil { // as kill -9
		t.Fatal(err)
	}
	_ = c.Wait()
	gone(t, pids)
	emptied(t, before)
	outside(t)
}

package sqlite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"linerate/internal/labtest"
	"linerate/internal/store/storetest"
)

// TestDiskFull: a full disk is reported as such; acknowledged studies are kept, and with free space the
// ledger works again.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=1m,mode=0700"); err != nil {
		labtest.Lacking(t, "no small disk can be made here: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 256<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "ledger.db")
	acks, failed := start(t, path, "full").wait()
	if len(acks) == 0 || !strings.HasPrefix(failed, "fail true ") {
		t.Fatalf("%d studies, then %q; want the ledger's error for a full disk", len(acks), failed)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	whole(t, path, acks)
	if _, err := reopen(t, path).Append(t.Context(), storetest.Sample("after")); err != nil {
		t.Errorf("with room again: %v", err)
	}
	whole(t, path, append(acks, "after"))
	t.Logf("%d studies acknowledged before the disk was full, all stored", len(acks))
}

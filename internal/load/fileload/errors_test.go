package fileload

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"linerate/internal/hint"
	"linerate/internal/load/request"
)

// TestKindsOfErrors: a full disk and a lack of descriptors are distinguished from other failures, and
// each error names the file and the operation.
func TestKindsOfErrors(t *testing.T) {
	for err, want := range map[error]request.Kind{
		unix.ENOSPC: request.NoSpace, unix.EDQUOT: request.NoSpace, unix.EMFILE: request.NoFile, unix.ENFILE: request.NoFile, unix.EIO: request.Other, errShort: request.Other,
	} {
		named := named("write", "l0-7", err)
		if got := kindOf(errors.Join(nil, named)); got != want || !errors.Is(named, err) || !strings.HasPrefix(named.Error(), "write l0-7: ") {
			t.Errorf("%v is %s, want %s", named, got, want)
		}
	}
	if named("write", "x", nil) != nil {
		t.Error("a nil error became an error")
	}
	for err, advised := range map[error]bool{unix.ENOSPC: true, unix.EDQUOT: true, unix.EACCES: false} {
		if got := explain(err); (hint.Of(got) != "") != advised || !errors.Is(got, err) {
			t.Errorf("%v: %v (%s)", err, got, hint.Of(got))
		}
	}
	tries := 0
	n, err := again(func() (int, error) {
		if tries++; tries < 3 {
			return -1, unix.EINTR
		}
		return 7, nil
	})
	if n != 7 || err != nil || tries != 3 {
		t.Errorf("an interrupted call: %d, %v after %d tries", n, err, tries)
	}
	if n, err := again(func() (int, error) { return -1, unix.EIO }); n != 0 || !errors.Is(err, unix.EIO) {
		t.Errorf("%d, %v", n, err)
	}
}

// TestReadOnlyDirectory: a failed creation leaves nothing and names the path.
func TestReadOnlyDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "d1"), nil, 0o600); err != nil { // where a directory is to be
		t.Fatal(err)
	}
	if _, err := Prepare(t.Context(), dir, pool()); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), dir+"/d1") {
		t.Errorf("%v", err)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "l1-3"), nil, 0o600); err != nil { // where a file is to be
		t.Fatal(err)
	}
	p := pool()
	p.Directories = 0
	if _, err := Prepare(t.Context(), other, p); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "make 40 files") {
		t.Errorf("%v", err)
	}
	if n, _ := onDisk(t, other); n > 1 {
		t.Errorf("%d files are left", n)
	}
}

// TestWholeRun prepares, loads and removes: the bytes match the operations, and nothing is left.
func TestWholeRun(t *testing.T) {
	dir := t.TempDir()
	set, err := Prepare(t.Context(), dir, pool())
	if err != nil {
		t.Fatal(err)
	}
	defer set.Release()
	a, m, err := set.Account(t.Context(), load(200))
	if err != nil {
		t.Fatal(err)
	}
	if r := a.Result(m); r.Answered != 200 || r.BodyBytes == 0 {
		t.Errorf("%d transactions moved %d bytes", r.Answered, r.BodyBytes)
	}
	if err := set.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%d entries are left, %v", len(left), err)
	}
}

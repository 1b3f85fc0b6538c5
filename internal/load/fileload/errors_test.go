package fileload

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/hint"
	"linerate/internal/load/client"
	"linerate/internal/load/request"
)

// TestKindsOfErrors: a full disk and too few descriptors are told from what else fails, and each
// names the file and what was done to it.
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
		t.Error("no error has a name")
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

// TestLoadsThatCannotBe, and those at their bounds.
func TestLoadsThatCannotBe(t *testing.T) {
	good := client.Load{Requests: 1, Timeout: time.Second}
	for what, c := range map[string]struct {
		change func(*client.Load)
		ok     bool
	}{
		"so many": {func(*client.Load) {}, true}, "so long": {func(l *client.Load) { l.Requests, l.Duration = 0, 1 }, true}, "the highest rate": {func(l *client.Load) { l.Rate = 1e7 }, true},
		"neither": {func(l *client.Load) { l.Requests = 0 }, false}, "a higher rate": {func(l *client.Load) { l.Rate = 1.1e7 }, false}, "a rate below 0": {func(l *client.Load) { l.Rate = -1 }, false},
		"no timeout": {func(l *client.Load) { l.Timeout = 0 }, false}, "a warm-up below 0": {func(l *client.Load) { l.Warmup = -1 }, false}, "a duration below 0": {func(l *client.Load) { l.Duration = -1 }, false},
	} {
		l := good
		c.change(&l)
		if err := l.Validate("transactions"); (err == nil) != c.ok || err != nil && !hint.IsUsage(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	p := pool()
	p.Reads, p.Creates = 0.75, 0.25
	if s := p.loop(client.Load{Rate: 7}); !slices.Equal(s.Weights, []float64{0.1875, 0.5625, 0.0625, 0.1875}) || s.Lanes != p.Lanes || s.Rate != 7 || len(Pairs) != len(s.Weights) {
		t.Errorf("%+v", s)
	}
	for what, change := range map[string]func(*Pool){
		"a size below 0": func(p *Pool) { p.Min = -1 }, "many files": func(p *Pool) { p.Files = MaxFiles + 1 }, "many directories": func(p *Pool) { p.Directories = MaxDirectories + 1 }, "directories below 0": func(p *Pool) { p.Directories = -1 },
		"a large block": func(p *Pool) { p.Block = 16<<20 + 1 }, "no lane": func(p *Pool) { p.Lanes = 0 }, "many lanes": func(p *Pool) { p.Files, p.Lanes = 1000, MaxLanes+1 }, "a share below 0": func(p *Pool) { p.Creates = -0.1 },
	} {
		p := pool()
		change(&p)
		if err := p.Validate(); !hint.IsUsage(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestReadOnlyDirectory: what cannot be made leaves nothing and says where.
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

// TestWholeRun makes, loads and removes: the operations account for the bytes, and nothing is
// left.
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

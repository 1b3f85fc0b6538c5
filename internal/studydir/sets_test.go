package studydir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/study"
	"linerate/internal/study/record"
)

// putAt writes a file below a directory, creating its parents.
func putAt(t *testing.T, dir, name, text string, mode fs.FileMode) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
}

// TestReadSet: a set contains files by their path on the DUT, in order, and keeps executable bits.
func TestReadSet(t *testing.T) {
	dir := t.TempDir()
	putAt(t, dir, "etc/sysctl.conf", "net.x=1\n", 0o600)
	putAt(t, dir, "etc/rc.local", "#!/bin/sh\n", 0o744)
	putAt(t, dir, "boot/loader.conf", "", 0o444)
	got, err := ReadSet(dir)
	want := []SetFile{{"/boot/loader.conf", 0o644, ""}, {"/etc/rc.local", 0o755, "#!/bin/sh\n"}, {"/etc/sysctl.conf", 0o644, "net.x=1\n"}}
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%+v, %v", got, err)
	}
	path, _ := made(t)
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	sets := map[string][]SetFile{"tuned": got, "empty": nil}
	if err := d.KeepSets(sets); err != nil {
		t.Fatal(err)
	}
	if back, err := ReadSets(path); err != nil || cmp.Diff(sets, back) != "" {
		t.Errorf("kept sets: %v\n%s", err, cmp.Diff(sets, back))
	}
	other, _ := made(t)
	if none, err := ReadSets(other); err != nil || none != nil {
		t.Errorf("a record without sets: %+v, %v", none, err)
	}
	putAt(t, other, SetsFile, "{", 0o644)
	if _, err := ReadSets(other); err == nil || !strings.Contains(err.Error(), SetsFile) {
		t.Errorf("damaged sets: %v", err)
	}
	if _, err := ReadSets(filepath.Join(other, "nowhere")); err == nil {
		t.Error("sets were read without a directory")
	}
}

// TestReadSetRefuses: only plain text of bounded size may be in a record, and no private keys.
func TestReadSetRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		make       func(dir string)
		want, hint string
	}{
		"nothing": {func(string) {}, "it contains no file", ""},
		"a link": {func(dir string) {
			putAt(t, dir, "a", "x", 0o644)
			must(t, os.Symlink("/etc/passwd", filepath.Join(dir, "b")))
		}, "b is not a regular file", ""},
		"a FIFO":        {func(dir string) { must(t, unix.Mkfifo(filepath.Join(dir, "pipe"), 0o644)) }, "pipe is not a regular file", ""},
		"a binary":      {func(dir string) { putAt(t, dir, "etc/x", "a\x00b", 0o644) }, "etc/x is not text", ""},
		"no UTF-8":      {func(dir string) { putAt(t, dir, "x", "\xff\xfe", 0o644) }, "x is not text", ""},
		"a key":         {func(dir string) { putAt(t, dir, "k", "-----BEGIN OPENSSH PRIVATE KEY-----\n", 0o600) }, "k holds a private key", "by hand"},
		"a long file":   {func(dir string) { putAt(t, dir, "x", strings.Repeat("x", maxSetFile+1), 0o644) }, "x is longer than 1048576 bytes", ""},
		"a large set":   {func(dir string) { many(t, dir, maxSetBytes/maxSetFile+1, maxSetFile) }, "more than 8388608 bytes", ""},
		"many files":    {func(dir string) { many(t, dir, maxSetFiles+1, 1) }, "more than 256 files", ""},
		"no directory":  {func(dir string) { must(t, os.Remove(dir)) }, "no such file", "a directory next to the study's file"},
		"a file, a set": {func(dir string) { must(t, os.Remove(dir)); putAt(t, filepath.Dir(dir), "set", "x", 0o644) }, "configuration set", "a directory next to"},
	} {
		dir := filepath.Join(t.TempDir(), "set")
		must(t, os.Mkdir(dir, 0o755))
		c.make(dir)
		if set, err := ReadSet(dir); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) || !strings.Contains(hint.Of(err), c.hint) {
			t.Errorf("%s: %d files, %v, hint %q; want %q", name, len(set), err, hint.Of(err), c.want)
		}
	}
	dir := t.TempDir() // exactly at the limit
	many(t, dir, maxSetBytes/maxSetFile, maxSetFile)
	if set, err := ReadSet(dir); err != nil || len(set) != maxSetBytes/maxSetFile {
		t.Errorf("%d files, %v", len(set), err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func many(t *testing.T, dir string, n, size int) {
	t.Helper()
	for i := range n {
		putAt(t, dir, "f"+string(rune('a'+i/26/26))+string(rune('a'+i/26%26))+string(rune('a'+i%26)), strings.Repeat("x", size), 0o644)
	}
}

// TestWriteMakesADirectoryOfItsOwn: only plain file names are written, and never over an existing directory.
func TestWriteMakesADirectoryOfItsOwn(t *testing.T) {
	path, trials := made(t)
	r, err := Read(path)
	must(t, err)
	copied := filepath.Join(t.TempDir(), "copy")
	must(t, Write(copied, r.Files))
	again, err := Read(copied)
	if err != nil || cmp.Diff(trials, again.Trials) != "" {
		t.Errorf("%v\n%s", err, cmp.Diff(trials, again.Trials))
	}
	if err := Write(copied, r.Files); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over another: %v", err)
	}
	for _, name := range []string{"../x", "a/b", "/etc/x", ".", "..", ""} {
		if err := Write(filepath.Join(t.TempDir(), "new"), []record.File{{Name: name, Data: []byte("x")}}); err == nil {
			t.Errorf("a file %q is written", name)
		}
	}
}

// TestFactsAndTelemetryAreKept: each snapshot of the host is a separate file with a recorded hash, and telemetry
// is appended.
func TestFactsAndTelemetryAreKept(t *testing.T) {
	path, _ := made(t)
	d, err := Open(path)
	must(t, err)
	var refs []study.FactsRef
	for _, name := range []string{"box", "box", "other"} {
		ref, err := d.KeepFacts(&fact.Facts{Version: fact.Version, Hostname: name, OS: "linux"})
		must(t, err)
		refs = append(refs, ref)
	}
	if refs[0].File != "facts.json" || refs[1].File != "facts-2.json" || refs[2].File != "facts-3.json" || refs[0].SHA256 != refs[1].SHA256 || refs[1].SHA256 == refs[2].SHA256 {
		t.Errorf("%+v", refs)
	}
	must(t, d.AppendTelemetry(study.Telemetry{Part: "cost", Mode: "cost", Variant: "a", Seconds: 1}))
	must(t, WriteResults(d.Path, study.Results{Version: study.ResultsVersion, Environment: study.Environment{Hostname: "box", Facts: refs}}))
	must(t, d.Close())
	d, err = Open(path)
	must(t, err)
	must(t, d.AppendTelemetry(study.Telemetry{Part: "cost", Mode: "cost", Variant: "b", Seconds: 2}))
	must(t, d.Close())
	must(t, d.Close()) // closing twice is allowed
	r, err := Read(path)
	must(t, err)
	if len(r.Facts) != 3 || r.Facts[2].Hostname != "other" || len(r.Telemetry) != 2 || r.Telemetry[1].Variant != "b" || len(r.Warnings(r.Results())) != 0 {
		t.Errorf("%d snapshots, %+v, %q", len(r.Facts), r.Telemetry, r.Warnings(r.Results()))
	}
	putAt(t, path, "facts-2.json", "{}", 0o644)
	if r, err = Read(path); err != nil || !strings.Contains(strings.Join(r.Warnings(r.Results()), "; "), "facts-2.json is not what the study recorded") {
		t.Errorf("an edited snapshot: %v, %q", err, r.Warnings(r.Results()))
	}
	for file, write := range map[string]func(string, []byte) error{ReportFile: WriteReport, PictureFile: WritePicture} {
		must(t, write(path, []byte("old, and longer")))
		must(t, write(path, []byte("new")))
		if data, err := os.ReadFile(filepath.Join(path, file)); err != nil || string(data) != "new" {
			t.Errorf("%s: %q, %v", file, data, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(path, ".*")); len(left) != 0 {
		t.Errorf("left over: %q", left)
	}
}

// TestNoSeedNoStudy: a study that could not be run again is not written, and if no directory can be created the
// error says what to do.
func TestNoSeedNoStudy(t *testing.T) {
	s := spec(t)
	s.Seed = nil
	path := filepath.Join(t.TempDir(), "x")
	if _, err := Create(path, s); err == nil || !strings.Contains(err.Error(), "seed") {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("a directory without a study is left")
	}
	putAt(t, filepath.Dir(path), "file", "x", 0o644)
	if _, err := Create(filepath.Join(filepath.Dir(path), "file", "x"), spec(t)); err == nil || !strings.Contains(err.Error(), "file") {
		t.Errorf("where no directory can be made: %v", err)
	}
	for of, want := range map[error]bool{fs.ErrPermission: true, unix.EROFS: true, unix.ENOSPC: false} {
		if got := hint.Of(notMade(of)); (got != "") != want {
			t.Errorf("%v: hint %q", of, got)
		}
	}
}

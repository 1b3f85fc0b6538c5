package studydir

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"linerate/internal/hint"
	"linerate/internal/study"
)

func spec(t testing.TB) study.Spec {
	t.Helper()
	s, err := study.Parse("x.yaml", []byte("name: x\nquestion: q\nseed: 42\nvariants: [{name: a}, {name: b}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func trial(block int, variant string) study.Trial {
	return study.Trial{Part: "cost", Variant: variant, Block: block, Order: 1, Start: time.Unix(int64(block), 0).UTC(), Valid: true,
		Reasons: []study.Refusal{}, Metrics: map[string]float64{study.CostNS: 700}, Mode: "cost"}
}

// made creates a study with three trials and closes it.
func made(t *testing.T) (path string, trials []study.Trial) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "study")
	d, err := Create(path, spec(t))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range []string{"a", "b", "aa"} {
		if err := d.Append(trial(i+1, v)); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return path, d.Trials
}

func TestCreateAppendOpen(t *testing.T) {
	path, trials := made(t)
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if d.Seed != 42 || d.Torn != "" {
		t.Errorf("seed %d, torn %q", d.Seed, d.Torn)
	}
	if diff := cmp.Diff(trials, d.Trials); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(spec(t), d.Spec); diff != "" {
		t.Error(diff)
	}
}

// TestTornAtEveryByte truncates the log at every byte, as a crash may: complete trials are kept, the rest is
// saved separately, and the log can be continued.
func TestTornAtEveryByte(t *testing.T) {
	path, trials := made(t)
	log := filepath.Join(path, TrialsFile)
	whole, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) + 1 {
		// Every byte near a line's end, every 23rd elsewhere, because each case syncs.
		near := bytes.IndexByte(whole[max(0, cut-2):min(len(whole), cut+3)], '\n') >= 0
		if !near && cut%23 != 0 && cut != len(whole) {
			continue
		}
		if err := os.WriteFile(log, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		os.Remove(filepath.Join(path, TornFile))
		d, err := Open(path)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		lines := bytes.Count(whole[:cut], []byte{'\n'})
		ended := cut == len(whole) || whole[cut] == '\n' // complete except for its newline
		if ended && cut < len(whole) {
			lines++
		}
		if diff := cmp.Diff(trials[:lines], d.Trials, cmp.Transformer("none", func(t []study.Trial) int { return len(t) })); diff != "" {
			t.Fatalf("cut at %d: %s", cut, diff)
		}
		start := bytes.LastIndexByte(whole[:cut], '\n') + 1
		if torn := string(whole[start:cut]); !ended && d.Torn != torn {
			t.Fatalf("cut at %d: kept aside %q, torn was %q", cut, d.Torn, torn)
		}
		if d.Torn != "" {
			aside, err := os.ReadFile(filepath.Join(path, TornFile))
			if err != nil || strings.TrimSuffix(string(aside), "\n") != d.Torn {
				t.Fatalf("cut at %d: %q is in %s, %v", cut, aside, TornFile, err)
			}
		}
		if err := d.Append(trial(9, "b")); err != nil {
			t.Fatal(err)
		}
		d.Close()
		again, err := Read(path)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if n := len(again.Trials); n != lines+1 || again.Trials[lines].Block != 9 {
			t.Fatalf("cut at %d: after going on there are %d trials", cut, n)
		}
	}
}

func TestADamagedLogIsNotRepaired(t *testing.T) {
	path, _ := made(t)
	log := filepath.Join(path, TrialsFile)
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := bytes.Cut(data, []byte{'\n'})
	if err := os.WriteFile(log, append(first[:len(first)/2], append([]byte{'\n'}, rest...)...), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), TrialsFile+":1: ") {
		t.Errorf("a damaged line in the middle: %v", err)
	}
}

func TestCreateRefusesAStudysDirectory(t *testing.T) {
	path, _ := made(t)
	if _, err := Create(path, spec(t)); err == nil || !strings.Contains(hint.Of(err), "study resume") {
		t.Errorf("%v", err)
	}
}

func TestOneWriterAtATime(t *testing.T) {
	path, _ := made(t)
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second writer: %v", err)
	}
	d.Close()
	again, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

func TestOpenWhatIsNoStudy(t *testing.T) {
	if _, err := Open(t.TempDir()); err == nil || hint.Of(err) == "" {
		t.Errorf("%v", err)
	}
}

func TestResultsAreReplacedWhole(t *testing.T) {
	path, trials := made(t)
	env := study.Environment{Kernel: "6.18", Testbeds: map[string]study.BedNotes{"cost": {Kind: "netns"}}}
	for range 2 {
		if err := WriteResults(path, study.Analyse(spec(t), 42, env, trials)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Read(path)
	if err != nil || got.Environment.Kernel != "6.18" || got.Environment.Testbeds["cost"].Kind != "netns" || !got.Finished {
		t.Errorf("%+v, %v", got, err)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

// TestReadStaysInside: a record may be somebody else's directory, so links out of it are not followed.
func TestReadStaysInside(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("s3cret: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(string) error{
		"a link out of it": func(file string) error { return os.Symlink(secret, file) },
		"a FIFO":           func(file string) error { return unix.Mkfifo(file, 0o600) },
		"a directory":      func(file string) error { return os.Mkdir(file, 0o700) },
	} {
		for _, file := range []string{SpecFile, TrialsFile, ResultsFile} {
			path, _ := made(t)
			if err := os.RemoveAll(filepath.Join(path, file)); err != nil {
				t.Fatal(err)
			}
			if err := spoil(filepath.Join(path, file)); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(path); err == nil || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%s instead of %s: %v", name, file, err)
			}
		}
	}
}

// TestAppendRefusesWhatNobodyReads: a line beyond the reader's limit would make the whole record unreadable.
func TestAppendRefusesWhatNobodyReads(t *testing.T) {
	path, trials := made(t)
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	huge := trial(9, "b")
	huge.Reasons = []study.Refusal{{Text: strings.Repeat("x", 2<<20)}}
	if err := d.Append(huge); err == nil {
		t.Error("a trial of two megabytes was written")
	}
	if r, err := Read(path); err != nil || len(r.Trials) != len(trials) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestSetsAreReadWithinBounds(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if sets, err := readSets(root, 100); sets != nil || err != nil {
		t.Errorf("no file: %v, %v", sets, err)
	}
	for text, fails := range map[string]bool{
		`{"a": [{"path": "/etc/x", "mode": 420, "text": "y"}]}`: false,
		`{"a": [`: true,
		`{"a": [{"path": "/etc/x", "mode": 420, "text": "` + strings.Repeat("y", 100) + `"}]}`: true,
	} {
		if err := root.WriteFile(SetsFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		want := map[string][]SetFile{"a": {{Path: "/etc/x", Mode: 0o644, Text: "y"}}}
		sets, err := readSets(root, 100)
		if (err != nil) != fails || !fails && !cmp.Equal(sets, want) {
			t.Errorf("%.40s: %v, %v", text, sets, err)
		}
	}
}

// TestTwoStudiesInOneSecond: two studies that start in the same second get separate directories.
func TestTwoStudiesInOneSecond(t *testing.T) {
	t.Chdir(t.TempDir())
	s := spec(t)
	now, paths := time.Now(), map[string]bool{}
	for range 5 {
		dir, err := CreateNew("", s, now)
		if err != nil {
			t.Fatal(err)
		}
		dir.Close()
		paths[dir.Path] = true
	}
	if len(paths) != 5 {
		t.Errorf("%v", paths)
	}
}

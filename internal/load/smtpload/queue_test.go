package smtpload

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// spool makes a queue directory with files.
func spool(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{"incoming", "active", "deferred"} {
		files = append(files, d+"/A/none")
	}
	for _, f := range files {
		path := filepath.Join(dir, f)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if filepath.Base(path) == "none" {
			continue
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestALongQueueIsCounted: also what lies in directories below, more than is read
// at a time, and what was seen twice once.
func TestALongQueueIsCounted(t *testing.T) {
	files := []string{"active/both", "incoming/both", "active/A/B/deep", "deferred/1/x", "deferred/2/y"}
	for i := range 2*entriesAtOnce + 7 {
		files = append(files, fmt.Sprintf("incoming/%d/%d", i%2, i))
	}
	q := &Queue{dir: spool(t, files...)}
	d, err := q.look()
	if err != nil || d.Incoming != 2*entriesAtOnce+7 || d.Active != 2 || d.Deferred != 2 {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestNamesAreBounded: of a queue of any length so many names are in memory, and a
// look forgets those of the one before.
func TestNamesAreBounded(t *testing.T) {
	q := &Queue{dir: spool(t, "incoming/a", "incoming/b")}
	for i := range 2 * maxNames {
		q.names.add(fmt.Sprint(i))
	}
	if len(q.names) != maxNames || !q.names.has("0") || q.names.has("a") {
		t.Errorf("%d names are held", len(q.names))
	}
	if d, err := q.look(); err != nil || d.Incoming != 2 || len(q.names) != 2 || q.names.has("0") {
		t.Errorf("%+v, %v, %d names", d, err, len(q.names))
	}
}

// TestALongLookIsFollowedByALongRest: it takes a tenth of a CPU at most.
func TestALongLookIsFollowedByALongRest(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{0: 100 * time.Millisecond, time.Millisecond: 99 * time.Millisecond, time.Second: 9 * time.Second} {
		if got := rest(100*time.Millisecond, took); got != want {
			t.Errorf("after %v it rests %v, want %v", took, got, want)
		}
	}
}

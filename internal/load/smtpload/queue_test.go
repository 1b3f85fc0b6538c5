package smtpload

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// spool creates a queue directory with files.
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

// TestALongQueueIsCounted: files in subdirectories count too, even more than are read at a time.
func TestALongQueueIsCounted(t *testing.T) {
	files := []string{"active/a", "active/A/B/deep", "deferred/1/x", "deferred/2/y"}
	for i := range 2*entriesAtOnce + 7 {
		files = append(files, fmt.Sprintf("incoming/%d/%d", i%2, i))
	}
	q := &Queue{dir: spool(t, files...)}
	if err := q.look(); err != nil || q.seen.Waiting != 2*entriesAtOnce+9 || q.seen.Deferred != 2 {
		t.Errorf("%+v, %v", q.seen, err)
	}
}

// TestALongLookIsFollowedByALongRest: watching the queue uses at most a tenth of a CPU.
func TestALongLookIsFollowedByALongRest(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{0: 100 * time.Millisecond, time.Millisecond: 99 * time.Millisecond, time.Second: 9 * time.Second} {
		if got := rest(100*time.Millisecond, took); got != want {
			t.Errorf("after a look of %v it pauses for %v, want %v", took, got, want)
		}
	}
}

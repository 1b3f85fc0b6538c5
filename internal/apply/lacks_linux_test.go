package apply

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linerate/internal/hint"
)

// TestAHostWithoutFlock: a host without flock(1) is refused before anything is written there; if flock was
// removed later, the error is one line and does not blame another change.
func TestAHostWithoutFlock(t *testing.T) {
	r := newSandbox(t)
	bin := filepath.Join(r.root, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{"/bin", "/usr/bin", "/sbin", "/usr/sbin"} {
		programs, err := filepath.Glob(from + "/*")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range programs {
			if filepath.Base(p) != "flock" {
				_ = os.Symlink(p, filepath.Join(bin, filepath.Base(p))) // the first of each name is used
			}
		}
	}
	m := OnWith(r.runner(), Script("\nPATH=$ROOT/bin\n"))
	id, err := m.Hello(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := testPlan(t, m)
	got, err := Run(t.Context(), m, p, Options{Within: time.Minute, Say: t.Logf})
	if err == nil || got == Pending || !strings.Contains(err.Error(), id.Host+" lacks flock(1)") || !strings.Contains(hint.Of(err), "util-linux") {
		t.Errorf("%s, %v (%s)", got, err, hint.Of(err))
	}
	state := filepath.Join(r.root, "var/lib/linerate")
	if _, err := os.Stat(state); err == nil {
		t.Errorf("it wrote to %s", state)
	}
	if err := os.MkdirAll(state, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "agent"), []byte("exit 99"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = m.Rollback(t.Context(), "000001-0123456789ab")
	if err == nil || !strings.Contains(err.Error(), "lacks flock") || strings.Contains(err.Error(), "somebody else") || strings.Count(err.Error(), "flock") > 1 {
		t.Errorf("a rollback: %.300v", err)
	}
}

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"linerate/internal/labtest/pgserver"
)

// TestQueueUnderKills is linerate-bench queue in small: leases run out sooner, and fewer
// things are killed.
func TestQueueUnderKills(t *testing.T) {
	t.Parallel()
	pgserver.Installed(t)
	cmd := exec.Command("linerate-bench", "queue", "--workers", "3", "--trials", "40", "--kills", "6", "--every", "300ms", "--trial", "60ms", "--beat", "200ms", "--lost", "1500ms", "--durable=false", "--json")
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	logged, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer logged.Close()
	cmd.Stderr = logged
	out, err := cmd.Output()
	if err != nil {
		text, _ := os.ReadFile(logged.Name())
		t.Fatalf("%v\n%s\n%s", err, out, text)
	}
	var o queueOutcome
	if err := json.Unmarshal(out, &o); err != nil {
		t.Fatal(err)
	}
	if o.Kills != 6 || o.Kills != o.Restarted+o.Gone+o.Postgres || o.Lost+o.Twice+o.TwoHands > 0 || o.LedgerTrials != 40 || !o.LedgerIntact || o.Leases < 3 || o.Begun < 40 {
		t.Errorf("%+v", o)
	}
}

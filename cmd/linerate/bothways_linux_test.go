package main

import (
	"os"
	"path/filepath"
	"testing"

	"linerate/internal/labtest"
	"linerate/internal/studydir"
)

const bothWays = `name: both
question: Do frames pass both ways at once?
variants: [{name: none}, {name: stateful, settings: [{firewall: {stateful: true}}]}]
retries: 0
parts:
  - {name: one, mode: overload, rate: 20kpps, blocks: 1, seconds: 0.3}
  - {name: both, mode: overload, rate: 20kpps, both_ways: true, blocks: 1, seconds: 0.3}
`

// TestBothWaysForReal: from both sides twice as many frames are sent and arrive
// as from one, tracked or not.
func TestBothWaysForReal(t *testing.T) {
	labtest.Need(t)
	file := filepath.Join(t.TempDir(), "both.yaml")
	if err := os.WriteFile(file, []byte(bothWays), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	runLinerate(t, nil, "study", "run", file, "--out", out, "--no-ledger", "--seed", "1")
	rec, err := studydir.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	sent, received := map[string]uint64{}, map[string]uint64{}
	for _, tr := range rec.Results().Trials {
		sent[tr.Part] += tr.Observed.Sent.TxPackets + tr.Observed.Sent.Unsent
		received[tr.Part] += tr.Observed.Received.RxPackets
	}
	// A busy machine loses some: far from half.
	if sent["one"] == 0 || sent["both"] < 19*sent["one"]/10 || received["both"] < 13*sent["one"]/10 {
		t.Errorf("due %v, received %v", sent, received)
	}
}

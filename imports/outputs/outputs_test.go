package outputs_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"linerate/imports/outputs"
	"linerate/internal/compare"
	"linerate/internal/evidence"
	"linerate/internal/hint"
	"linerate/internal/stats"
)

func run(rate float64) compare.File {
	return compare.File{Name: fmt.Sprintf("run-%g.json", rate), Data: fmt.Appendf(nil,
		`{"start":{"version":"iperf 3.12","system_info":"Linux box 6.1.0-18-amd64 #1 SMP x86_64","timestamp":{"timesecs":1700000000}},"intervals":[],"end":{"sum_received":{"bytes":9,"bits_per_second":%g}}}`, rate)}
}

func runs(from float64) (all []compare.File) {
	for i := range 5 {
		all = append(all, run(from+float64(i)*1e7))
	}
	return all
}

// TestTake: a verdict with its change and source, labelled as that of others; the same files always give the
// same entry.
func TestTake(t *testing.T) {
	m := outputs.Measurement{Control: runs(9e9), Variant: runs(9.5e9), Tunable: "net.ipv4.tcp_congestion_control", Before: "cubic", After: "bbr",
		By: "alice", OS: "freebsd", CPU: "a CPU", Now: time.Unix(1, 0)}
	got, err := outputs.Take(m)
	if err != nil {
		t.Fatal(err)
	}
	b, v := got.Batch, got.Verdict
	if v == nil || v.Verdict != stats.Better || v.N != 5 || len(v.Changes) != 1 || v.Changes[0].Before != "cubic" || v.Changes[0].After != "bbr" || v.Unit != "bit/s" {
		t.Fatalf("verdict %+v", v)
	}
	s, e := b.Studies[0], b.Environments[0]
	if !strings.HasPrefix(s.Label, evidence.ByOthers+": alice") || s.Kind != outputs.Kind || !s.Started.Equal(time.Unix(1700000000, 0)) || s.Facts[0] != "tool: iperf 3.12" {
		t.Errorf("study %+v", s)
	}
	if e.OS != "linux" || e.Release != "6.1.0-18-amd64" || e.Hardware != "box" || e.CPU != "a CPU" || e.Label != evidence.ByOthers {
		t.Errorf("the tool's output must override the user's statement: %+v", e)
	}
	if len(b.Trials) != 10 || len(b.Sources) != 10 || len(b.Blobs) != 10 || b.Trials[0].Sources[0].SHA256 != b.Sources[0].SHA256 {
		t.Errorf("%d trials, %d sources, %d blobs", len(b.Trials), len(b.Sources), len(b.Blobs))
	}
	m.Now = time.Unix(2, 0)
	again, err := outputs.Take(m)
	if err != nil || again.Batch.Ref != b.Ref || again.Batch.Trials[3].ID != b.Trials[3].ID {
		t.Errorf("importing again gave %s, not %s (%v)", again.Batch.Ref, b.Ref, err)
	}
	m.After = "reno"
	if other, err := outputs.Take(m); err != nil || other.Batch.Ref == b.Ref {
		t.Errorf("another setting gave the same entry (%v)", err)
	}
}

func TestTakeOneSide(t *testing.T) {
	got, err := outputs.Take(outputs.Measurement{Control: runs(9e9)})
	if err != nil || got.Verdict != nil || len(got.Batch.Verdicts) != 0 || len(got.Batch.Trials) != 5 {
		t.Errorf("%+v, %v", got.Batch, err)
	}
}

func TestTakeRefuses(t *testing.T) {
	numbers := []compare.File{{Name: "n.txt", Data: []byte("1\n2\n3\n")}}
	wrk := []compare.File{{Name: "w", Data: []byte("Running 1s test @ http://x/\nRequests/sec:  10.5\n")}}
	for _, m := range []outputs.Measurement{{Control: numbers}, {Control: runs(1e9), Variant: wrk}, {Control: runs(1e9), Variant: numbers}} {
		if _, err := outputs.Take(m); err == nil || !hint.IsUsage(err) && errors.Unwrap(err) == nil {
			t.Errorf("%s: %v", m.Control[0].Name, err)
		}
	}
}

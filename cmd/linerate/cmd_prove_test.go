package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/assemble"
	"linerate/internal/cli"
	"linerate/internal/live"
	"linerate/internal/study"
	"linerate/internal/studydir"
)

// TestProveFlags: shares and margins parse as people write them, and mistakes are
// reported before any host is contacted.
func TestProveFlags(t *testing.T) {
	args := []string{"prove", "net.ipv4.tcp_fin_timeout=17", "--metric", "drops", "--window", "5m"}
	for _, c := range []struct{ flags, want string }{
		{"--max-share 60%", "--max-share: "},
		{"--max-share a", "want a percentage, such as 25%"},
		{"--time 10m --max-share 1%", "cannot decide"},
	} {
		var b strings.Builder
		root := newRootCmd()
		root.SetArgs(append(slices.Clone(args), strings.Fields(c.flags)...))
		root.SetOut(&b)
		root.SetErr(&b)
		if err := root.Execute(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.flags, err, c.want)
		}
	}
	var f proveFlags
	for _, text := range []string{"25%", "25 %", "25"} {
		if err := f.share.Set(text); err != nil || f.share != 25 || f.share.String() != "25%" {
			t.Errorf("%q is %v: %v", text, f.share, err)
		}
	}
}

// TestTrippedStudyIsOver: resume refuses a study that a guardrail stopped, in a pair or in the
// first exposures, without contacting the host, and leaves the record unchanged.
func TestTrippedStudyIsOver(t *testing.T) {
	for _, pair := range []int{0, 2} {
		s, err := study.Parse("live.yaml", []byte(`name: live
question: Does it help?
testbed: {kind: live, host: "ssh://host.invalid"}
seed: 3
variants: [{name: as-is}, {name: setting, settings: [{sysctl: net.ipv4.tcp_sack, value: "0"}]}]
parts: [{name: day, blocks: 8, live: {window: 60, watch: [drops]}}]
metrics: [{metric: drops_per_packet, part: day, primary: true}]
`))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "study")
		dir, err := studydir.Create(path, s)
		if err != nil {
			t.Fatal(err)
		}
		trip := &study.Trip{Guardrail: "dropped packets", Value: 0.12, Limit: 0.01, Text: "dropped packets was 12 %, beyond 1 %"}
		if err := dir.Append(assemble.TrialOf(s, live.Window{Seconds: 60, Arm: "setting", Window: study.Window{Pair: pair, Half: 1, Of: "setting", Trip: trip}})); err != nil {
			t.Fatal(err)
		}
		if err := dir.Close(); err != nil {
			t.Fatal(err)
		}
		trials := filepath.Join(path, studydir.TrialsFile)
		before, _ := os.ReadFile(trials)
		code, said := resumed(t, path)
		for _, want := range []string{`guardrail "dropped packets" ended the study under setting`, "beyond 1 %", "hint: ", "linerate study run " + path, "--out DIR"} {
			if code != cli.ExitFailed || !strings.Contains(said, want) {
				t.Errorf("pair %d: exit %d, no %q in %s", pair, code, want, said)
			}
		}
		if after, _ := os.ReadFile(trials); string(after) != string(before) || len(before) == 0 {
			t.Errorf("pair %d: the record has %d bytes, had %d", pair, len(after), len(before))
		}
	}
}

// resumed runs study resume on a record.
func resumed(t *testing.T, path string) (code int, stderr string) {
	t.Helper()
	var b strings.Builder
	cmd := exec.Command("linerate", "study", "resume", path)
	cmd.Stderr = &b
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), b.String()
}

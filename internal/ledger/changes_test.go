package ledger_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"linerate/internal/ledger"
	"linerate/internal/stats"
	"linerate/internal/study"
	"linerate/internal/study/record"
	"linerate/internal/testbed"
	"linerate/internal/trend"
)

// nightly is a record of a study of one night: variant b costs what it says, and sets a
// sysctl to a value.
func nightly(t testing.TB, name string, night int, seed uint64, cost, spread float64, arms [2]string, sysctl, kernel string) *record.Record {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, uint64(night)))
	spec := fmt.Sprintf("name: %s\nquestion: q\nseed: %d\nblocks: 4\ncontrol: %s\nvariants: [{name: %s}, {name: %s, settings: [{sysctl: net.ipv4.ip_early_demux, value: '%s'}]}]\n"+
		"metrics: [{metric: cost_ns_per_packet, part: cost, primary: true, margin_percent: 1}]\n", name, night+1, arms[0], arms[0], arms[1], sysctl)
	var lines strings.Builder
	for block := 1; block <= 4; block++ {
		for i, v := range []string{arms[0], arms[1], study.AA} {
			value := 500 * (1 + spread*r.NormFloat64())
			if v == arms[1] {
				value *= cost
			}
			start := time.Date(2026, 1, 1+night, 2, block, i, 0, time.UTC)
			data, err := json.Marshal(study.Trial{Part: "cost", Variant: v, Block: block, Order: i + 1, Start: start, Valid: true, Reasons: []study.Refusal{},
				Metrics: map[string]float64{study.CostNS: value}, Mode: testbed.Cost})
			if err != nil {
				t.Fatal(err)
			}
			lines.WriteString(string(data) + "\n")
		}
	}
	env := study.Environment{OS: "linux", Hostname: "box", CPU: "some CPU", CPUs: 4, Kernel: kernel, Linerate: "v1", Testbeds: map[string]study.BedNotes{"cost": {Kind: "netns"}}}
	results, err := json.Marshal(study.Results{Version: study.ResultsVersion, Environment: env})
	if err != nil {
		t.Fatal(err)
	}
	rec, err := record.Read(fstest.MapFS{
		record.SpecFile: {Data: []byte(spec)}, record.TrialsFile: {Data: []byte(lines.String())}, record.ResultsFile: {Data: results},
	}, "dir")
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func keep(t testing.TB, s ledger.Store, r *record.Record) {
	t.Helper()
	b, err := ledger.OfRecord(r, "dir")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

var arms = [2]string{"plain", "tuned"}

func find(t testing.TB, s ledger.Reader) (ledger.Changes, *trend.Change) {
	t.Helper()
	all, err := ledger.FindChanges(t.Context(), s, "nightly", trend.Options{Variant: "tuned", Minimum: 5, Alpha: 0.01, Seed: 1}, time.Time{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Series) != 1 || len(all.Series[0].Changes) != 1 {
		t.Fatalf("series %+v; want one with one change", all.Series)
	}
	return all, &all.Series[0].Changes[0]
}

// TestChangeIsProvenByTurns follows a change from suspicion to claim: a setting that
// another value was given on night 12 makes a study of both values, and only what that came to
// confirms or refutes it.
func TestChangeIsProvenByTurns(t *testing.T) {
	s := store(t)
	for night := range 24 {
		cost, value := 1.0, "1"
		if night >= 12 {
			cost, value = 1.1, "0"
		}
		keep(t, s, nightly(t, "nightly", night, 1, cost, 0.01, arms, value, "6.12"))
	}
	all, c := find(t, s)
	if c.Status != trend.Suspected || c.Claim != nil || len(all.Reruns) != 1 || all.Reruns[0].Claimed {
		t.Fatalf("before any re-run: %s, %d re-runs", c.Status, len(all.Reruns))
	}
	if got := strings.Join(c.Turns, "; "); got != "net.ipv4.ip_early_demux was 1, is 0" || len(c.Beside) != 0 {
		t.Errorf("what changed: %q beside %q", got, c.Beside)
	}
	spec := all.Reruns[0].Spec
	if spec.Control != "before" || len(spec.Variants) != 2 || spec.Primary().Metric != study.CostNS {
		t.Errorf("the study of both: control %s, variants %+v", spec.Control, spec.Variants)
	}
	for i, want := range []string{"1", "0"} {
		if got := spec.Variants[i].Settings[0].Value; got != want {
			t.Errorf("arm %s sets %s, not %s", spec.Variants[i].Name, got, want)
		}
	}
	states := [2]string{trend.BeforeArm, trend.AfterArm}
	for i, step := range []struct {
		cost float64
		want trend.Status
	}{{1.002, trend.Refuted}, {0.9, trend.Refuted}, {1.1, trend.Confirmed}} {
		keep(t, s, nightly(t, spec.Name, 30+i, 2, step.cost, 0.001, states, "0", "6.12"))
		all, c = find(t, s)
		if c.Status != step.want || !all.Reruns[0].Claimed {
			t.Errorf("a re-run with a factor of %g makes it %s (%+v), not %s", step.cost, c.Status, c.Claim, step.want)
		}
	}
	keep(t, s, nightly(t, spec.Name, 40, 3, 1.05, 0.2, states, "0", "6.12"))
	if _, c = find(t, s); c.Status != trend.Open || c.Claim.Verdict != stats.Inconclusive {
		t.Errorf("a noisy re-run makes it %s by %s, not open", c.Status, c.Claim.Verdict)
	}
}

// TestChangeThatCannotTakeTurns: two kernels cannot run at once, and of two runs that are the
// same there are no two states.
func TestChangeThatCannotTakeTurns(t *testing.T) {
	for _, test := range []struct{ kernel, want string }{
		{"6.13", "what differs cannot take turns on one machine: kernel was 6.12, is 6.13"},
		{"6.12", "nothing that the records know of differs"},
	} {
		s := store(t)
		for night := range 24 {
			cost, kernel := 1.0, "6.12"
			if night >= 12 {
				cost, kernel = 1.1, test.kernel
			}
			keep(t, s, nightly(t, "nightly", night, 1, cost, 0.01, arms, "0", kernel))
		}
		all, c := find(t, s)
		if !strings.HasPrefix(c.Why, test.want) || c.Rerun != "" || len(all.Reruns) != 0 || c.Status != trend.Suspected {
			t.Errorf("kernel %s: %s, %q, %d re-runs; want %q", test.kernel, c.Status, c.Why, len(all.Reruns), test.want)
		}
	}
}

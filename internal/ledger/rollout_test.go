package ledger_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/evidence"
	"linerate/internal/fleet/wedge"
	"linerate/internal/ledger"
	"linerate/internal/stats"
)

// rolloutOf returns a rollout in two waves whose plan changes the metric by a factor.
func rolloutOf(hosts int, factor float64, changes ...wedge.Change) ledger.Rollout {
	t := wedge.Trial{Metric: "command:./meter", Better: stats.LowerIsBetter, Harm: 5, Hold: 1, Seed: 3, Strata: []string{"role"}, Waves: 2, Changes: changes,
		On: wedge.System{OS: "linux", Release: "6.12.1", Hardware: "AMD EPYC 7763"}}
	for i := range hosts {
		t.Hosts = append(t.Hosts, wedge.Host{Name: fmt.Sprint("h", i), Stratum: "router"})
	}
	t.Hosts = wedge.Draw(t.Hosts, []int{hosts / 2, hosts}, t.Seed)
	r := rand.New(rand.NewPCG(1, 2))
	for _, wave := range []int{0, 0, 1, 2} {
		p := wedge.Period{Wave: wave, Begin: time.Unix(1, 0).UTC()}
		for _, h := range t.Hosts {
			v := 1000 * (1 + 0.01*r.NormFloat64())
			if h.Step() <= wave {
				v *= factor
			}
			p.Values = append(p.Values, stats.Num(v))
		}
		t.Periods = append(t.Periods, p)
	}
	return ledger.Rollout{Wave: "20261129-000000-abcd", Start: time.Unix(1, 0), Trial: t}
}

// lineOf returns the only line of evidence of a rollout.
func lineOf(t *testing.T, r ledger.Rollout) (*ledger.Batch, evidence.Row) {
	t.Helper()
	b, err := ledger.OfRollout(r)
	if err != nil || len(b.Verdicts) != 1 {
		t.Fatalf("%v: %+v", err, b)
	}
	l := ledger.Flatten(&ledger.Evidence{Verdict: b.Verdicts[0], Study: b.Studies[0], Environment: b.Environments[0]}, nil)
	return b, l.Row
}

// TestRollout: a rollout of one setting is evidence on it, from machines other than the host in question; one
// of several settings is no evidence on a single one; a harmful one is a warning.
func TestRollout(t *testing.T) {
	one := wedge.Change{Setting: "net.ipv4.tcp_slow_start_after_idle", Before: "1", After: "0", Hosts: 20}
	b, row := lineOf(t, rolloutOf(20, 0.9, one))
	if v := b.Verdicts[0]; v.Verdict != stats.Better || v.EffectPercent.Float() > -9 || v.EffectPercent.Float() < -11 || !(v.P.Float() < 0.01) || v.N != 20 || b.Studies[0].AA.Differs() {
		t.Errorf("%+v, A/A %s", v, b.Studies[0].AA)
	}
	if !row.Alone || row.Tunable != one.Setting || row.Machine() != "AMD EPYC 7763" || row.OS != "Linux" {
		t.Errorf("%+v", row)
	}
	if c := evidence.Weigh([]evidence.Row{row}, nil)[0]; len(c.Verdicts) != 1 || c.Metrics[0].Counts[stats.Better] != 1 || c.Metrics[0].Groups[0].EffectPercent.Float() > -9 {
		t.Errorf("%s: %+v", c.Says, c)
	}
	_, row = lineOf(t, rolloutOf(20, 0.9, one, wedge.Change{Setting: "net.core.somaxconn", Before: "4096", After: "8192", Hosts: 3}))
	if c := evidence.Weigh([]evidence.Row{row}, nil)[0]; row.Alone || c.Says != evidence.Untold || len(c.LeftOut) != 1 {
		t.Errorf("%s: %+v", c.Says, c)
	}
	harmful := rolloutOf(20, 1.2, one)
	harmful.Harm, harmful.Skipped = "the plans do harm: +20 %", 2
	b, row = lineOf(t, harmful)
	if c := evidence.Weigh([]evidence.Row{row}, nil)[0]; c.Says != evidence.Halted || !strings.Contains(c.Text, "+20 %") || b.Verdicts[0].Warnings[0] != "2 hosts skipped, and counted as if they had the plan" {
		t.Errorf("%s: %+v %q", c.Says, c, b.Verdicts[0].Warnings)
	}
	part := rolloutOf(20, 0.9, one)
	part.Trial.Unchanged = 5
	if b, row = lineOf(t, part); row.Tunable != "" || len(b.Verdicts[0].Warnings) != 1 {
		t.Errorf("a rollout without a change is evidence: %+v", row)
	}
	early := rolloutOf(20, 1)
	early.Trial.Periods = early.Trial.Periods[:wedge.Baselines]
	if _, err := ledger.OfRollout(early); err == nil {
		t.Error("a rollout without a wave has a verdict")
	}
}

// TestRolloutDerived: an imported rollout is judged by its record only.
func TestRolloutDerived(t *testing.T) {
	b, err := ledger.OfRollout(rolloutOf(12, 0.9))
	if err != nil {
		t.Fatal(err)
	}
	check := func(b ledger.Batch) error {
		return ledger.CheckDerived([]*ledger.Batch{&b}, map[string]*ledger.Blob{b.Blobs[0].SHA256: &b.Blobs[0]})
	}
	if err := check(*b); err != nil {
		t.Error(err)
	}
	lie := *b
	lie.Verdicts = []ledger.Verdict{b.Verdicts[0]}
	lie.Verdicts[0].EffectPercent = stats.Num(-50)
	if err := check(lie); err == nil || !strings.Contains(err.Error(), "its trials give") {
		t.Errorf("a changed effect was accepted: %v", err)
	}
	long := rolloutOf(4000, 1)
	long.Trial.Waves = 4000
	long.Trial.Periods = slices.Repeat(long.Trial.Periods[:2], 4)
	endless, err := json.Marshal(long)
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range []string{string(endless), "", "{}", `{"wave":"x","trial":{"waves":1,"hosts":[{"name":"a","wave":1},{"name":"b","wave":1}],"periods":[{"values":[1]}]}}`, `{"wave":"x","trial":{"waves":1,"hosts":[{"name":"a","wave":-9}]}}`} {
		broken := *b
		broken.Blobs = []ledger.Blob{{SHA256: b.Blobs[0].SHA256, Encoding: "raw", Data: []byte(doc)}}
		if err := check(broken); err == nil {
			t.Errorf("%s was accepted", doc)
		}
	}
}

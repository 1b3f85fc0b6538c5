package evidence_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"linerate/internal/evidence"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/stats"
)

// studied is a verdict of a study of its own on the machine "m1", by the forwarding rate.
func studied(n int, v stats.Verdict, effect, half float64) evidence.Row {
	return evidence.Row{ID: fmt.Sprint("v", n), StudyID: fmt.Sprint("s", n), Metric: "overload_forwarding_rate_pps", Primary: true, Workload: "64 B",
		Subject: evidence.Subject{Tunable: "net.x", Before: "1024", After: "4096", Alone: true, OS: "FreeBSD", Release: "14.3-RELEASE", CPU: "Xeon E5-2650 v4", NIC: "Intel 82599", Driver: "ix", MachineID: "m1"},
		Result:  stats.Result{N: 8, Verdict: v, Effect: stats.Effect{EffectPercent: stats.Num(effect), CILow: stats.Num(effect - half), CIHigh: stats.Num(effect + half)}}}
}

func with(r evidence.Row, change func(*evidence.Row)) evidence.Row { change(&r); return r }

func this() *evidence.Host {
	f := &fact.Facts{OS: "freebsd", Release: release.MustParse("14.3"), MachineID: "m1", Hostname: "fw1", CPU: fact.CPU{Model: "Intel(R) Xeon(R) CPU E5-2650 v4 @ 2.20GHz"}}
	return &evidence.Host{Facts: f, Drivers: []string{"ix"}}
}

// TestSays: what a host may believe of a change, by constructed ledgers.
func TestSays(t *testing.T) {
	gain := studied(1, stats.Better, 4, 1)
	on := func(machine string) func(*evidence.Row) { return func(r *evidence.Row) { r.MachineID = machine } }
	elsewhere := func(r *evidence.Row) { r.MachineID, r.Driver = "m2", "igb" }
	secondary := func(r *evidence.Row) { r.Primary, r.Metric, r.ID = false, "latency_p99_ns", r.ID+"b" }
	once := []evidence.Row{studied(0, stats.Better, 4, 3.5)}
	for n := 1; n < 20; n++ {
		once = append(once, studied(n, stats.Equivalent, 0.1*float64(n%3-1), 0.3))
	}
	like := func(n int, effect float64) evidence.Row {
		return with(studied(n, stats.Better, effect, 0.5), on(fmt.Sprint("m", n)))
	}
	for name, c := range map[string]struct {
		rows []evidence.Row
		want evidence.Says
	}{
		"nothing measured that tells":          {[]evidence.Row{with(gain, func(r *evidence.Row) { r.Verdict = stats.Invalid })}, evidence.Untold},
		"a clear gain here":                    {[]evidence.Row{gain}, evidence.Helps},
		"a gain that may be chance":            {[]evidence.Row{studied(1, stats.Better, 4, 3.5)}, evidence.NoGain},
		"helped once, nothing nineteen times":  {once, evidence.NoGain},
		"one gain on a machine like it":        {[]evidence.Row{like(2, 10)}, evidence.NoGain},
		"three that agree on machines like it": {[]evidence.Row{like(2, 10), like(3, 10.5), like(4, 9.5)}, evidence.Helps},
		"gains on other machines": {[]evidence.Row{with(like(2, 10), func(r *evidence.Row) { r.Driver = "igb" }), with(like(3, 10), func(r *evidence.Row) { r.Driver = "igb" }),
			with(like(4, 10), func(r *evidence.Row) { r.Driver = "igb" }), with(like(5, 10), func(r *evidence.Row) { r.Driver = "igb" }), with(like(6, 10), func(r *evidence.Row) { r.Driver = "igb" })}, evidence.Elsewhere},
		"a loss here":                       {[]evidence.Row{studied(1, stats.Worse, -4, 1)}, evidence.Harms},
		"a loss here, gains elsewhere":      {[]evidence.Row{studied(1, stats.Worse, -4, 1), with(like(3, 10), elsewhere)}, evidence.Harms},
		"gains here, a loss elsewhere":      {[]evidence.Row{gain, with(studied(2, stats.Worse, -4, 1), elsewhere)}, evidence.Helps},
		"better here and worse here":        {[]evidence.Row{gain, studied(2, stats.Worse, -4, 1)}, evidence.Depends},
		"equivalent, a secondary is better": {[]evidence.Row{studied(1, stats.Equivalent, 0, 0.3), with(studied(1, stats.Better, -9, 1), secondary)}, evidence.NoGain},
		"better, a secondary is worse":      {[]evidence.Row{gain, with(studied(1, stats.Worse, 9, 1), secondary)}, evidence.Harms},
		"better, and a guardrail":           {[]evidence.Row{gain, with(studied(2, stats.Stopped, 0, 0), func(r *evidence.Row) { r.Flags, r.Effect = []string{"guardrail drops were 12 %"}, stats.Effect{} })}, evidence.Halted},
		"with other settings":               {[]evidence.Row{with(gain, func(r *evidence.Row) { r.Alone = false })}, evidence.Untold},
		"the gain is excluded":              {[]evidence.Row{with(gain, func(r *evidence.Row) { r.Excluded = "the fan failed" })}, evidence.Untold},
		"control differs from itself": {[]evidence.Row{with(gain, func(r *evidence.Row) {
			r.Flags = []string{"distrust it: in this study the control differs from itself (A/A)"}
		})}, evidence.Untold},
		"the way back was worse": {[]evidence.Row{gain, studied(2, stats.Worse, -4, 1).Reversed()}, evidence.Depends},
	} {
		got := evidence.Weigh(c.rows, this())
		if len(got) != 1 || got[0].Says != c.want {
			t.Errorf("%s: %+v, want %q", name, got, c.want)
		}
		if best := evidence.Best(got); (best != nil) != (c.want == evidence.Helps) {
			t.Errorf("%s: to set is %+v", name, best)
		}
	}
}

// TestWordsOfAPool: who helped, how often, by how much, what to expect and what was left out.
func TestWordsOfAPool(t *testing.T) {
	rows := []evidence.Row{studied(0, stats.Better, 4, 3.5), with(studied(99, stats.Better, 50, 1), func(r *evidence.Row) { r.Alone = false })}
	for n := 1; n < 20; n++ {
		rows = append(rows, studied(n, stats.Equivalent, 0, 0.3))
	}
	c := evidence.Weigh(rows, this())[0]
	for _, want := range []string{"No gain is shown. The forwarding rate under overload: 1 better, 19 equivalent; this machine ±0.00 % [", "(20 studies, 19 repeated); expected on this host [", "Left out: 1 with other settings changed too."} {
		if !strings.Contains(c.Text, want) {
			t.Errorf("%q is not in %q", want, c.Text)
		}
	}
	if len(c.Verdicts) != 20 || c.Metrics[0].Groups[0].Heterogeneity > 60 {
		t.Errorf("%+v", c)
	}
	secondary := with(studied(0, stats.Worse, 9, 1), func(r *evidence.Row) { r.Primary, r.Metric, r.Workload = false, "latency_p99_ns", "new connections" })
	if c := evidence.Weigh([]evidence.Row{studied(0, stats.Better, 4, 1), secondary}, this())[0]; !strings.Contains(c.Text, "exploratory, new connections: 1 worse") {
		t.Errorf("what speaks against is not said: %q", c.Text)
	}
	halted := with(studied(2, stats.Stopped, 0, 0), func(r *evidence.Row) {
		r.Flags, r.Effect, r.Study = []string{"guardrail drops were 12 %, beyond 5 %"}, stats.Effect{}, "mine"
	})
	if c := evidence.Weigh([]evidence.Row{halted}, this())[0]; c.Text != "A guardrail ended a study of it: guardrail drops were 12 %, beyond 5 % (mine)." {
		t.Errorf("%q", c.Text)
	}
}

// TestValuesAreApart: each value tried has its own pool, in the order of their sizes, whichever
// way round it was measured; one study's parts are one study.
func TestValuesAreApart(t *testing.T) {
	to := func(n int, before, after string, effect float64) evidence.Row {
		v := stats.Better
		if effect < 0 {
			v = stats.Worse
		}
		return with(studied(n, v, effect, 1), func(r *evidence.Row) { r.Before, r.After = before, after })
	}
	part := with(to(1, "", "1048576", 11), func(r *evidence.Row) { r.Workload, r.ID = "1500 B", "v1b" })
	got := evidence.Weigh([]evidence.Row{to(1, "", "1048576", 10), part, to(2, "", "131072", -50), to(3, "1048576", "", -9)}, nil)
	if len(got) != 2 || got[0].After != "131072" || got[1].After != "1048576" {
		t.Fatalf("%+v", got)
	}
	if p := got[1].Metrics[0]; len(p.Groups) != 1 || p.Groups[0].Studies != 2 || p.Counts[stats.Better] != 3 || got[1].Change() != "default → 1048576" {
		t.Errorf("%+v", p)
	}
}

// TestLikeness: the machine's own identity comes first, whatever carried the frames; then driver
// and release, or the CPU in a lab without a card; what others measured is never near.
func TestLikeness(t *testing.T) {
	of := func(change func(*evidence.Row)) string {
		return evidence.Weigh([]evidence.Row{with(studied(1, stats.Better, 4, 1), change)}, this())[0].Metrics[0].Groups[0].Of
	}
	for name, c := range map[string]struct {
		change func(*evidence.Row)
		want   string
	}{
		"the same":              {func(*evidence.Row) {}, "this machine"},
		"a lab on it":           {func(r *evidence.Row) { r.Driver, r.NIC, r.Release = "veth", "veth", "13.2" }, "this machine"},
		"by name, CPU the same": {func(r *evidence.Row) { r.MachineID = "fw1" }, "this machine"},
		"by name, another CPU":  {func(r *evidence.Row) { r.MachineID, r.CPU, r.Driver = "fw1", "AMD GX-412TC", "igb" }, "other machines"},
		"no identity, like it":  {func(r *evidence.Row) { r.MachineID, r.CPU = "", "AMD GX-412TC" }, "machines like it"},
		"a lab, the CPU":        {func(r *evidence.Row) { r.MachineID, r.Driver = "m2", "epair" }, "machines like it"},
		"a lab, another CPU":    {func(r *evidence.Row) { r.MachineID, r.Driver, r.CPU = "m2", "epair", "AMD GX-412TC" }, "other machines"},
		"another driver":        {func(r *evidence.Row) { r.MachineID, r.Driver = "m2", "igb" }, "other machines"},
		"another release":       {func(r *evidence.Row) { r.MachineID, r.Release = "m2", "13.5" }, "other machines"},
		"measured by others":    {func(r *evidence.Row) { r.Label = evidence.ByOthers + ": numbers alone" }, "other machines"},
	} {
		if got := of(c.change); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestBestOfSeveralValues: of values that help the one whose least gain is greatest.
func TestBestOfSeveralValues(t *testing.T) {
	to := func(n int, after string, effect, half float64) evidence.Row {
		return with(studied(n, stats.Better, effect, half), func(r *evidence.Row) { r.After = after })
	}
	cs := evidence.Weigh([]evidence.Row{to(1, "2048", 5, 0.5), to(2, "4096", 8, 0.5), to(3, "8192", 9, 5)}, this())
	if best := evidence.Best(cs); best == nil || best.After != "4096" || !slices.Contains(best.Verdicts, "v2") {
		t.Errorf("%+v", best)
	}
}

// TestDoseCurve: of many values those that say something, then all as a curve.
func TestDoseCurve(t *testing.T) {
	var rows []evidence.Row
	for n := 1; n <= 24; n++ {
		effect := 0.5 - 10/float64(n)
		v := stats.Equivalent
		if n == 20 {
			effect, v = 8, stats.Better
		}
		rows = append(rows, with(studied(n, v, effect, 0.5), func(r *evidence.Row) { r.Before, r.After = "", fmt.Sprint(n) }))
	}
	got := evidence.Told(evidence.Weigh(rows, this()))
	if len(got) != 2 || !strings.HasPrefix(got[0], "default → 20: It helps.") || !strings.HasPrefix(got[1], "24 values were tried. In order: 1 −9.5 %, ") || strings.Count(got[1], "%") > 9 || !strings.Contains(got[1], "24 +0.08 %") {
		t.Errorf("%q", got)
	}
	if got := evidence.Told(evidence.Weigh(rows[:2], this())); len(got) != 2 || !strings.HasPrefix(got[0], "default → 1: It does harm.") {
		t.Errorf("%q", got)
	}
}

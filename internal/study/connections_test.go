package study

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"linerate/internal/hint"
	"linerate/internal/stats"
)

const concurrent = `
name: cc
question: Does it help?
testbed: {kind: live}
design: concurrent
variants:
  - {name: as-is}
  - name: paced
    settings: [{socket: SO_MAX_PACING_RATE, value: "12500000"}]
parts:
  - {name: day, blocks: 8, live: {window: 10, watch: [duration, retransmits]}}
metrics:
  - {metric: connection_duration_p50_ns, part: day, primary: true, margin_percent: 2}
  - {metric: connection_retransmit_ratio, part: day, margin_points: 0.1}
`

func concurrentSpec(t *testing.T) Spec {
	t.Helper()
	s, err := Parse("cc.yaml", []byte(concurrent))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConcurrentTerms(t *testing.T) {
	s := concurrentSpec(t)
	if p := s.Parts[0]; KindOf(p) != KindConnections || s.Interleaving(p) != Together || p.Live.HarmPercent != defaultHarm {
		t.Errorf("%+v", p)
	}
	for _, c := range []struct{ old, new, want, hint string }{
		{"design: concurrent\n", "", "modes switchback", ""},
		{"{kind: live}", "{kind: netns}", "design concurrent needs a live host", "kind: live"},
		{"{kind: live}", "{kind: live, host: ssh://www1}", "on the machine that linerate runs on", "leave host out"},
		{"window: 10", "window: 10, pilot: 5", "have window, watch, service and harm_percent alone", ""},
		{"watch: [duration, retransmits]", "watch: []", "nothing is watched", "duration"},
		{"watch: [duration, retransmits]", "watch: [cpu-per-packet]", "not measured by connection", "delivery-rate"},
		{"socket: SO_MAX_PACING_RATE", "socket: SO_LINGER", "cannot be set for single connections", "pacing-rate"},
		{"socket: SO_MAX_PACING_RATE", "sysctl: net.core.somaxconn", "cannot be set for single connections", "whole host"},
		{`value: "12500000"`, `value: "1"`, "not a number of bytes/s within 1000", ""},
		{"  - {name: as-is}", "  - {name: as-is}\n  - {name: third}", "a connection draws one of two arms", ""},
		{"  - {name: as-is}", `  - {name: as-is, settings: [{socket: SO_SNDBUF, value: "4096"}]}`, "the control of a study by connection is as the host is", ""},
	} {
		_, err := Parse("cc.yaml", []byte(strings.Replace(concurrent, c.old, c.new, 1)))
		if err == nil || c.old != "design: concurrent\n" && !strings.Contains(err.Error(), c.want) || !strings.Contains(hint.Of(err), c.hint) {
			t.Errorf("%s: %v, hint %q; want %q, %q", c.new, err, hint.Of(err), c.want, c.hint)
		}
	}
}

// windowsBy returns the trials of all windows, with n connections each, which are randomly assigned to arms.
func windowsBy(s Spec, n int, of func(window, n int, variant string, c *Connections)) (trials []Trial) {
	for w, share := range Shares(1, s.Parts[0].Blocks) {
		for _, variant := range s.Arms() {
			c := Connections{Share: share, Opened: int(float64(n) * (1 - share) / 2)}
			if variant == "paced" {
				c.Opened = int(float64(n) * share)
			}
			of(w+1, c.Opened, variant, &c)
			trials = append(trials, ConnectionTrial(s, Window{Pair: w + 1}, variant, c))
		}
	}
	return trials
}

func steady(r *rand.Rand, n int, times float64, c *Connections) {
	for i := range n {
		c.Add(Connection{Client: uint32(i % 50), FirstRTT: 0.02, RTT: 0.02, Duration: times * math.Exp(0.3*r.NormFloat64()), Segments: 10, Bytes: 1e4})
	}
}

func TestConnectionsAreCompared(t *testing.T) {
	s, r := concurrentSpec(t), rand.New(rand.NewPCG(1, 1))
	trials := windowsBy(s, 400, func(_, n int, variant string, c *Connections) {
		steady(r, n, map[bool]float64{true: 0.8, false: 1}[variant == "paced"], c)
	})
	res := Analyse(s, 1, Environment{}, trials)
	v := res.Verdicts[0]
	if !res.Complete || v.Verdict != stats.Better || v.N < 1590 || v.Host == nil || v.Host.Apart || v.CILow.Float() > -20 || v.CIHigh.Float() < -20 {
		t.Errorf("complete %v, %s %s %s, n %d, host %+v", res.Complete, v.Verdict, v.Text(), v.Bounds(), v.N, v.Host)
	}
	if half := Analyse(s, 1, Environment{}, trials[:12]); half.Complete {
		t.Error("half of a study counts as complete")
	}
	if trip := HarmIn(s, 1, trials); trip != nil {
		t.Errorf("a gain trips the guardrail: %+v", trip)
	}
}

// TestConnectionsOfOneClient: the answer says why there is no verdict.
func TestConnectionsOfOneClient(t *testing.T) {
	s, r := concurrentSpec(t), rand.New(rand.NewPCG(8, 1))
	trials := windowsBy(s, 400, func(_, n int, _ string, c *Connections) {
		for range n {
			c.Add(Connection{Client: 1, Duration: math.Exp(0.3 * r.NormFloat64()), Segments: 10, Bytes: 1e4})
		}
	})
	const want = "there is no verdict for paced: all connections come from one client: too few to generalise from"
	if a := Analyse(s, 1, Environment{}, trials).Answer; !strings.Contains(a, want) {
		t.Errorf("%q; want %q", a, want)
	}
}

// TestGainOfOthersIsNoGain: if treated connections gain only what the others lose, it is not a gain.
func TestGainOfOthersIsNoGain(t *testing.T) {
	s, r := concurrentSpec(t), rand.New(rand.NewPCG(2, 1))
	trials := windowsBy(s, 400, func(_, n int, variant string, c *Connections) {
		times := math.Exp(0.25 * c.Share)
		if variant == "paced" {
			times *= math.Exp(-0.25)
		}
		steady(r, n, times, c)
	})
	v := Analyse(s, 1, Environment{}, trials).Verdicts[0]
	if v.Verdict != stats.Inconclusive || v.Host == nil || !v.Host.Apart || len(v.Warnings) == 0 {
		t.Errorf("%s %s, host %+v, %v", v.Verdict, v.Text(), v.Host, v.Warnings)
	}
}

// TestPartOfAGainIsTheHosts: if connections gain partly from each other, the verdict is on the host's share of it.
func TestPartOfAGainIsTheHosts(t *testing.T) {
	s, r := concurrentSpec(t), rand.New(rand.NewPCG(6, 1))
	trials := windowsBy(s, 2000, func(_, n int, variant string, c *Connections) {
		times := math.Exp(0.3 * c.Share)
		if variant == "paced" {
			times *= math.Exp(-0.7)
		}
		steady(r, n, times, c)
	})
	v := Analyse(s, 1, Environment{}, trials).Verdicts[0]
	truth := stats.Percent(-0.4)
	if v.Verdict != stats.Better || v.CILow.Float() > truth || v.CIHigh.Float() < truth || math.Abs(v.Host.Between.EffectPercent.Float()-stats.Percent(-0.7)) > 3 {
		t.Errorf("%s %s %s of %.1f %%, host %+v", v.Verdict, v.Text(), v.Bounds(), truth, v.Host)
	}
	if ns := v.EffectNS.Float() / v.ControlMean.Float(); math.Abs(100*ns-v.EffectPercent.Float()) > 0.01 || len(v.Warnings) != 1 {
		t.Errorf("the effect is %v of the control's time, %v", ns, v.Warnings)
	}
}

func TestHarmToConnectionsTrips(t *testing.T) {
	s, r := concurrentSpec(t), rand.New(rand.NewPCG(3, 1))
	slow := windowsBy(s, 400, func(_, n int, variant string, c *Connections) {
		steady(r, n, map[bool]float64{true: 1.5, false: 1}[variant == "paced"], c)
	})[:3]
	slow[0].Block, slow[1].Block, slow[2].Block = 0, 0, 0 // windows of the ramp
	if trip := HarmIn(s, 1, slow); trip == nil || trip.Guardrail != "harm" {
		t.Errorf("durations longer by half do not trip as harm: %+v", trip)
	}
	stay := windowsBy(s, 400, func(_, n int, variant string, c *Connections) {
		if variant == "paced" {
			c.Open = n * 4 / 5
			n -= c.Open
		}
		steady(r, n, 1, c)
	})
	if trip := HarmIn(s, 1, stay[:3]); trip == nil || trip.Guardrail != "stuck" {
		t.Errorf("connections that never end do not trip as stuck: %+v", trip)
	}
}

// TestFewConnectionsTripNothing: the ramp of a quiet server treats two or three connections, too few to stop a study.
func TestFewConnectionsTripNothing(t *testing.T) {
	s, r, trips := concurrentSpec(t), rand.New(rand.NewPCG(9, 1)), 0
	for range 50 {
		var trials []Trial
		for _, variant := range s.Arms() {
			c := Connections{Share: Ramp, Opened: map[bool]int{true: 2 + r.IntN(3), false: 15}[variant == "paced"]}
			for range c.Opened {
				c.Add(Connection{Client: r.Uint32N(30), FirstRTT: 0.005 * math.Exp(0.4*r.NormFloat64()), RTT: 0.02, Duration: math.Exp(0.3 * r.NormFloat64()), Segments: 10, Bytes: 1e4})
			}
			trials = append(trials, ConnectionTrial(s, Window{Ramp: true}, variant, c))
		}
		if HarmIn(s, 1, trials) != nil {
			trips++
		}
	}
	if trips > 0 {
		t.Errorf("%d of 50 harmless ramps trip the guardrail", trips)
	}
}

// TestSampledWindowsKeepTheirWeight: a window that keeps a sample of its connections still counts with all of them.
func TestSampledWindowsKeepTheirWeight(t *testing.T) {
	s, r := concurrentSpec(t), rand.New(rand.NewPCG(4, 1))
	trials := windowsBy(s, 400, func(window, n int, _ string, c *Connections) {
		if window%2 == 0 { // ten times as many connections, each ten times as long
			c.Opened = 10 * n
			steady(r, n, 10, c)
			return
		}
		steady(r, n, 1, c)
	})
	// Ten of eleven connections are long, so the median is long too.
	if v := Analyse(s, 1, Environment{}, trials).Verdicts[0]; v.ControlMean.Float() < 5e9 {
		t.Errorf("the median is %v ns, but most connections take longer", v.ControlMean.Float())
	}
}

func TestWindowsOfConnectionsThatDoNotCount(t *testing.T) {
	s, r := concurrentSpec(t), rand.New(rand.NewPCG(5, 1))
	for name, c := range map[string]struct {
		of   func(c *Connections)
		gate string
	}{
		"refused": {func(c *Connections) { c.Refused = 1; steady(r, 50, 1, c) }, GateRefused},
		"unseen":  {func(c *Connections) { c.Lost = 2; steady(r, 50, 1, c) }, GateLost},
		"none":    {func(*Connections) {}, GateNothing},
	} {
		conn := Connections{Share: 0.5, Opened: 100}
		c.of(&conn)
		trial := ConnectionTrial(s, Window{Pair: 1}, "paced", conn)
		if trial.Valid || len(trial.Reasons) != 1 || trial.Reasons[0].Gate != c.gate {
			t.Errorf("%s: %v", name, trial.Why())
		}
	}
}

// TestHostileConnections: a record may come from anyone: columns of unequal length, invalid shares and
// values that are not counts give no verdict and no panic.
func TestHostileConnections(t *testing.T) {
	s := concurrentSpec(t)
	for _, columns := range []string{
		`{"share": 0.5, "client": [1,2,3], "duration_seconds": [1]}`,
		`{"share": 7, "opened": -5, "client": [], "duration_seconds": []}`,
		`{"share": 0.5, "opened": -9, "lost": 4, "client": [1], "first_rtt_seconds": [-1], "rtt_seconds": [1e308], "duration_seconds": [1e308], "delivery_rate_bps": [-1], "segments": [0], "segments_again": [9], "bytes_acked": [0]}`,
	} {
		var c Connections
		if err := json.Unmarshal([]byte(columns), &c); err != nil {
			t.Fatal(err)
		}
		trials := windowsBy(s, 1, func(_, _ int, _ string, to *Connections) { *to = c })
		for i := range trials {
			trials[i].Valid = true // a file may claim so
		}
		r := Analyse(s, 1, Environment{}, trials)
		HarmIn(s, 1, trials)
		for _, v := range r.Verdicts {
			if v.Verdict.Differs() || v.Verdict == stats.Equivalent {
				t.Errorf("%s: %s", columns, v.Verdict)
			}
		}
		if Sections(s, r) == nil {
			t.Errorf("%s: no section", columns)
		}
	}
}

func TestSharesAreBalanced(t *testing.T) {
	got := map[float64]int{}
	for _, share := range Shares(9, 40) {
		got[share]++
	}
	if got[fewTreated] != 10 || got[halfOfAll] != 20 || got[mostOfAll] != 10 {
		t.Errorf("%v", got)
	}
}

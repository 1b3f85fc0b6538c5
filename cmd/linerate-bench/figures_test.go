package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"linerate/bench/calibrate"
	"linerate/bench/provebench"
	"linerate/internal/hint"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

func shown(fill func(*show.Page)) string {
	p := show.NewPage(show.Style{Width: 160})
	fill(p)
	return p.String()
}

// TestHandsOfTwo reads a testbed's log as kills leave it: torn lines do not count, two at once do, and
// idle is only the time in which blocks waited.
func TestHandsOfTwo(t *testing.T) {
	begun := time.UnixMilli(1_000_000)
	at := func(s float64) time.Time { return begun.Add(time.Duration(s * float64(time.Second))) }
	for name, c := range map[string]struct {
		log         string
		waited      time.Time
		two, trials int
		idle        float64
	}{
		"nothing was done":    {"", at(7), 0, 0, 7},
		"nothing waited":      {"", time.Time{}, 0, 0, 0},
		"one after the other": {"1001000 7 begin trial\n1002000 7 end trial\n1002500 7 begin trial\n1004000 7 end trial\n", at(4), 0, 2, 1.5},
		"two at once":         {"1001000 7 begin trial\n1001100 8 TWO\n1001200 8 begin trial\n", at(1.2), 1, 2, 1},
		"torn by a kill":      {"1001000 7 begin trial\n10020", at(3), 0, 1, 2},
		"in another order":    {"1003000 8 begin trial\n1001000 7 begin trial\n", at(3), 0, 2, 2},
		"long after":          {"1001000 7 begin trial\n1900000 7 begin trial\n", at(2), 0, 2, 1},
	} {
		c2 := &chaos{dir: t.TempDir()}
		if err := os.WriteFile(filepath.Join(c2.dir, "bed1.log"), []byte(c.log), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := c2.countHands("bed1", begun, c.waited); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if o := c2.out; o.TwoHands != c.two || o.Begun != c.trials || math.Abs(o.LongestIdle-c.idle) > 1e-9 {
			t.Errorf("%s: two hands %d, %d trials, idle for %g s; want %+v", name, o.TwoHands, o.Begun, o.LongestIdle, c)
		}
	}
	if err := (&chaos{dir: t.TempDir()}).countHands("none", begun, begun); err == nil {
		t.Error("a log that is not there was read")
	}
}

// TestBenchStudiesAreStudies: what the queue's bench submits can be run, with as many trials a block as it
// counts.
func TestBenchStudiesAreStudies(t *testing.T) {
	s := benchStudy(3, 40)
	spec, err := study.Parse(s.ID, s.Spec)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(study.Schedule(spec, *spec.Seed)); n != 40*armsEach || spec.Name != "bench-3" || *spec.Seed != 3 {
		t.Errorf("%s has %d trials by seed %d", spec.Name, n, *spec.Seed)
	}
}

// TestKeptOrFail: one broken claim fails the bench, and its page says which.
func TestKeptOrFail(t *testing.T) {
	coverage := 0.951
	rows := []calibrate.Row{{Shape: "normal", Order: calibrate.Interleaved, N: 5, Rule: "linerate", FalsePositive: 0.05, Coverage: &coverage, Power: 0.8, Claim: "nominal", Kept: true},
		{Shape: "normal", Order: calibrate.Interleaved, N: 5, Rule: "ministat", FalsePositive: 0.2, Claim: calibrate.None, Kept: true}}
	checks := []calibrate.Check{{What: "A/A", N: 10, Value: 0.05, Low: 0.04, High: 0.06, Within: true}, {What: "shown", N: 5, Value: 0.5, High: 1, Within: true}}
	if err := keptOrFail(rows, checks); err != nil {
		t.Error(err)
	}
	rows[0].Kept, checks[0].Within = false, false
	if err := keptOrFail(rows, checks); err == nil || err.Error() != "2 claims are not kept" {
		t.Errorf("%v", err)
	}
	text := shown(func(p *show.Page) { calibrationPage(p, rows, checks, 2000) })
	for _, want := range []string{"2000 studies per line", "nominal: NOT KEPT", "95.1 %", "20.0 %", "claimed 4 to 6 %: NOT KEPT", "shown (no claim)", orderTitle(calibrate.Interleaved)} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Count(text, "normal") != 1 || strings.Contains(text, orderTitle("x")) {
		t.Errorf("a shape is named again, or another order:\n%s", text)
	}
}

// TestProvePage writes what is not known as such.
func TestProvePage(t *testing.T) {
	text := shown(func(p *show.Page) {
		writeProve(p, 100, []provebench.Row{{Shape: "calm", Method: "linerate", FalsePositiveRate: 0.05, Coverage: stats.Num(0.95), Power: stats.Num(math.NaN())}},
			[]provebench.Guard{{Shape: "calm", FalseTrips: 0.01, HarmPercent: 50, Tripped: 1, Windows: stats.Num(2)}}, []provebench.Silence{{Requests: "one a minute", Left: 0.5, Tripped: 0.9, Minutes: stats.Num(math.NaN())}})
	})
	for _, want := range []string{"100 simulated studies", "calm", "5.0", "95.0 %", "+50 %", "one a minute", show.Unknown} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "NaN") {
		t.Errorf("%s", text)
	}
}

// TestSimulatedLimits: a bench by simulation refuses what is beyond its bounds, takes less with --quick,
// and hands on its seed.
func TestSimulatedLimits(t *testing.T) {
	s := simulated{flag: "runs", usage: "u", usual: 200, least: 10, most: 1000, quick: 20, quickly: "q", seed: "s"}
	for args, want := range map[string]int{"": 200, "--runs 10": 10, "--runs 1000": 1000, "--runs 9": 0, "--runs 1001": 0, "--quick": 20, "--quick --runs 15": 15, "--runs x": 0, "more": 0} {
		got, seed := 0, uint64(0)
		cmd := s.command(&cobra.Command{Use: "x", SilenceErrors: true, SilenceUsage: true}, func(_ *cobra.Command, n int, from uint64) (any, func(*show.Page), error) {
			got, seed = n, from
			return map[string]int{"n": n}, func(*show.Page) {}, nil
		})
		cmd.SetArgs(append(strings.Fields(args), "--seed", "7", "--json"))
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetErr(&out)
		err := cmd.Execute()
		if got != want || (err == nil) != (want > 0) || want > 0 && seed != 7 {
			t.Errorf("%q: %d from seed %d, %v; want %d", args, got, seed, err, want)
		}
		if strings.HasPrefix(args, "--runs 9") && !hint.IsUsage(err) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

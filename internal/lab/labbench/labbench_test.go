package labbench

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linerate/internal/lab"
	"linerate/internal/lab/forward"
	"linerate/internal/lab/runtest"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/testbed/bedtest"
)

// benchOf is bench lab on a simulated testbed, whose clock moves with traffic only.
func benchOf(t *testing.T, keep string, minutes float64) (*Bench, *bytes.Buffer) {
	t.Helper()
	raw, err := readKept(keep, 1)
	if err != nil {
		t.Fatal(err)
	}
	sim := &bedtest.Turns{Simulated: &bedtest.Simulated{Noise: 0.001, Seed: raw.Seed}}
	var talk bytes.Buffer
	return &Bench{raw: raw, keep: keep, talk: &talk, budget: time.Duration(minutes * float64(time.Minute)),
		lab: &lab.Lab{Machine: sim.Simulated, Runners: []lab.Runner{&forward.Runner{Bed: runtest.On(sim.Simulated), Engine: sim}}}}, &talk
}

// TestBenchLabGoesOn: what was measured before an interrupt is not measured again,
// and is in what is told.
func TestBenchLabGoesOn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kept")
	b, talk := benchOf(t, file, 0.5)
	ctx, cancel := context.WithCancel(t.Context())
	b.talk = writerFunc(func(p []byte) (int, error) {
		if strings.Contains(string(p), "1 studies of planted effects") {
			cancel()
		}
		return talk.Write(p)
	})
	if err := b.all(ctx); err != nil || b.out.Complete || b.out.AA.Studies == 0 || len(b.out.Planted) == 0 || b.out.Planted[0].Of != 1 {
		t.Fatalf("%v: %+v", err, b.out)
	}
	if !strings.Contains(talk.String(), "the same command goes on") || !strings.Contains(talk.String(), "about 0:30 in all") {
		t.Errorf("it said:\n%s", talk)
	}
	again, _ := benchOf(t, file, 0.5)
	again.raw.Took[largeInterleaved] = 1e6 // there is no time for more of these,
	again.raw.Loaded.Half[0].add(1)        // nor for a busy loop, which a simulated clock does not stand
	if err := again.all(t.Context()); err != nil || !again.out.Complete {
		t.Fatalf("%v, complete %t", err, again.out.Complete)
	}
	if again.out.AA.Studies != b.out.AA.Studies || math.Abs(again.out.AA.Interleaved.Float()-b.out.AA.Interleaved.Float()) > 1e-6 || again.out.Planted[0].Of < 1 ||
		again.out.Alarms.Studies < alarmPairs || again.out.Minutes <= b.out.Minutes || again.raw.Seed <= 3 {
		t.Errorf("before %+v, after %+v", b.out, again.out)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestBenchLabRefusesOthersFiles: nothing is overwritten that it did not write.
func TestBenchLabRefusesOthersFiles(t *testing.T) {
	for _, text := range []string{"", "words", "{}", `{"version":2}`, `{"version":1,"took":{},"planted":{"found":[1]}}`, `{"version":1,"took":null}`} {
		file := filepath.Join(t.TempDir(), "kept")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readKept(file, 1); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := readKept(t.TempDir(), 1); err == nil {
		t.Error("a directory was taken")
	}
}

// TestBenchLabSaysWhatGotNoTime: a method without a study is a dash, and no
// number is not a number.
func TestBenchLabSaysWhatGotNoTime(t *testing.T) {
	var out bytes.Buffer
	o := Result{Minutes: 1, Label: "a simulation", AA: Widths{Interleaved: stats.Num(0.5), Studies: 1, Seconds: stats.Num(12)}, Planted: []Planted{{Rules: 3, Of: 1}},
		Agreement: []Agreement{{Variant: "stateful", Interleaved: stats.EffectOf(stats.Interval{Estimate: 3, Low: 2, High: 4})}}}
	p := show.NewPage(show.Style{Width: 80})
	o.Page(p)
	if err := p.Flush(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{"–", "0.50 %", "12 s", "there was no time for it", "+3.0 % [+2.0, +4.0]", "0 of 1"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	for _, never := range []string{"NaN", "unknown"} {
		if strings.Contains(text, never) {
			t.Errorf("%q is in\n%s", never, text)
		}
	}
}

package bedtest

import (
	"context"
	"fmt"
	"testing"

	"linerate/internal/lab"
	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// Parse reads a study.
func Parse(t testing.TB, text string) study.Spec {
	t.Helper()
	s, err := study.Parse("sim.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// On brings up a simulated testbed in every mode.
func On(sim *Simulated) func(context.Context, testbed.Mode) (testbed.Bed, error) {
	return func(_ context.Context, mode testbed.Mode) (testbed.Bed, error) {
		sim.Mode = mode
		return sim, nil
	}
}

// Run runs a task and returns its trials, and the stored files.
func Run(t testing.TB, l *lab.Lab, task lab.Task) (trials []study.Trial, kept map[string][]byte, out lab.Outcome, err error) {
	t.Helper()
	kept = map[string][]byte{}
	l.Keep = func(name string, data []byte) error { kept[name] = data; return nil }
	out, err = l.Run(t.Context(), task, func(tr study.Trial) error { trials = append(trials, tr); return nil }, nil)
	return trials, kept, out, err
}

// Refuse simulates a machine that lacks a setting.
func Refuse(name string) func(setting.Setting) string {
	return func(s setting.Setting) string {
		if s.Name == name {
			return "no such sysctl"
		}
		return ""
	}
}

// ToldAlike checks that the arms of each instance have the same count of the machine's drops.
func ToldAlike(t *testing.T, trials []study.Trial) {
	t.Helper()
	told := map[string]uint64{} // by instance
	for _, tr := range trials {
		of := fmt.Sprintf("%s, block %d, attempt %d", tr.Part, tr.Block, tr.Observed.Interleaved.Attempt)
		n := tr.Observed.Drops["softnet.dropped"]
		if told[of] == 0 {
			told[of] = n
		}
		if n == 0 || n != told[of] {
			t.Errorf("%s, %s: reported %d of %d", of, tr.Variant, n, told[of])
		}
	}
}

// Drifting raises all metrics of each block by a thousandth over the previous block's, like a
// machine's drift: with constant values a study cannot tell an effect from rounding.
func Drifting(trials []study.Trial) []study.Trial {
	for _, t := range trials {
		for name, v := range t.Metrics {
			t.Metrics[name] = v * (1 + 0.001*float64(t.Block))
		}
	}
	return trials
}

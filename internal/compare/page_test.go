package compare

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"linerate/internal/show"
	"linerate/internal/stats"
)

func arm(name string, values ...float64) stats.Arm { return stats.Arm{Name: name, Values: values} }

// printed is a result as a terminal has it, with its words apart by one space.
func printed(t *testing.T, r Result, st show.Style) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Print(&b, st); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func contains(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestBesideNothing: of a control of nothing there is no percentage, in words, in the table and
// in the picture; the difference is told in the values' own unit.
func TestBesideNothing(t *testing.T) {
	r, err := Run([]stats.Arm{arm("none", 0, 0, 0, 0, 0, 0), arm("some", 30, 33, 31, 32, 34, 30)}, false, stats.Options{Better: stats.LowerIsBetter, MarginPercent: 2})
	if err != nil {
		t.Fatal(err)
	}
	text := printed(t, r, show.Style{Width: 100})
	contains(t, text, "some against none: worse (31.6667 higher)", "effect no percentage: none is not shown to differ from zero; p < 0.001", "difference +31.6667 ")
	if strings.Contains(text, "– higher") || strings.Contains(text, "– to –") || strings.Contains(text, "NaN") {
		t.Error(text)
	}
}

// TestPrintedComparisons: the verdict in words, the effect with its interval, what it rests on
// and what limits it.
func TestPrintedComparisons(t *testing.T) {
	control := arm("a", 100, 102, 98, 101, 99, 100.5)
	faster, same, noisy := arm("fast", 120, 123, 118, 121, 119, 120), arm("same", 100.1, 102, 98, 101, 99, 100.4), arm("noisy", 80, 130, 95, 110, 101, 70)
	r, err := Run([]stats.Arm{control, faster, same, noisy}, true, stats.Options{Alpha: 0.05, Better: stats.HigherIsBetter, MarginPercent: 1})
	if err != nil {
		t.Fatal(err)
	}
	text := printed(t, r, show.Style{Width: 100})
	contains(t, text, "fast against a: better (20.1 % higher)", "effect +20.1 % 95 % interval +19.", "(Holm over 3: ", "n 6 blocks", "same against a: equivalent", "equivalence within ±1.0 %: p ",
		"noisy against a: inconclusive (no difference shown, and none excluded)", "decided by Student's t on block-wise log ratios", "would have shown)", "warning effects below ")
	var verdicts []string
	for v := range r.Verdicts() {
		verdicts = append(verdicts, string(v))
		if v == stats.Equivalent {
			break
		}
	}
	if got := fmt.Sprint(verdicts); got != "[better equivalent]" {
		t.Error(got)
	}
	two, err := Run([]stats.Arm{control, arm("one", 5)}, false, stats.Options{Alpha: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	contains(t, printed(t, two, show.Style{}), "one against a: invalid (too little data)", "n 6 and 1", "warning a sample of 1 value gives no interval")
	slower, _ := Run([]stats.Arm{control, faster}, false, stats.Options{Better: stats.LowerIsBetter, Alpha: 0.01, Power: 0.9})
	contains(t, printed(t, slower, show.Style{}), "fast against a: worse (20.1 % higher)", "99 % interval", "what 90 % of such measurements", "ministat Difference at 99")
}

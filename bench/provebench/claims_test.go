package provebench

import (
	"reflect"
	"strings"
	"testing"
)

// TestClaims: the design keeps its level and coverage on every shape of day; common practice without it does
// not.
func TestClaims(t *testing.T) {
	const studies = 80
	for _, r := range Table(studies, 1) {
		switch r.Method {
		case Pairs, Looks, Shams:
			if r.FalsePositiveRate > 0.147 { // four standard errors above 5 %
				t.Errorf("%s, %s: %.3f false positives", r.Shape, r.Method, r.FalsePositiveRate)
			}
			if c, ok := r.Coverage.Get(); ok && c < 0.8 { // three standard errors below the least, of late effects under bursts
				t.Errorf("%s, %s: coverage %.3f", r.Shape, r.Method, c)
			}
			if r.Reversed > 0.147 {
				t.Errorf("%s, %s: %.3f gains called harm", r.Shape, r.Method, r.Reversed)
			}
			if late := strings.HasSuffix(r.Shape, "window late"); late && r.Method == Pairs && r.Noticed.Float() < 0.85 {
				t.Errorf("%s: late effects are reported on %g of days", r.Shape, r.Noticed.Float())
			}
		case BeforeAfter:
			if r.Shape != "steady" && r.FalsePositiveRate < 0.5 {
				t.Errorf("%s, %s: %.3f false positives: the simulation has no trend", r.Shape, r.Method, r.FalsePositiveRate)
			}
		}
	}
}

func TestGuards(t *testing.T) {
	for _, g := range Guards(20, 1) {
		most := 2.0 // windows
		if strings.Contains(g.Shape, "late") {
			most = 4
		}
		if g.HarmPercent == 400 && (g.Tripped < 0.9 || g.Windows.Float() > most) {
			t.Errorf("%+v: harm of 400 %% must trip within %g windows", g, most)
		}
		if g.Shape == "steady" && g.FalseTrips > 0 {
			t.Errorf("%+v", g)
		}
	}
}

func TestSameSeedSameTable(t *testing.T) {
	if a, b := Table(5, 9), Table(5, 9); !reflect.DeepEqual(a, b) {
		t.Error("two tables of one seed differ")
	}
}

// TestSilences: missing requests are noticed, while random or bursty requests seldom stop a harmless study.
func TestSilences(t *testing.T) {
	const studies = 20
	for _, s := range Silences(studies, 1) {
		if s.FalseTrips > 2.0/studies {
			t.Errorf("%+v", s)
		}
		if s.Left == 0 && s.Tripped < 0.6 {
			t.Errorf("silence goes unnoticed: %+v", s)
		}
	}
}

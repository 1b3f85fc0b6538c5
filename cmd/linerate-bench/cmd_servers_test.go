package main

import (
	"strings"
	"testing"

	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// TestBenchedServersAreStudies: each case is one both ways, of arms that are all
// the same, by a metric of its own.
func TestBenchedServersAreStudies(t *testing.T) {
	for _, r := range benchedServers {
		for _, beside := range []bool{true, false} {
			s, err := study.Parse("bench", []byte(r.study(4, beside)))
			if err != nil {
				t.Errorf("%s: %v", r.Case, err)
				continue
			}
			if how := s.Interleaving(s.Parts[0]); (how == study.InSequence) == beside || s.Primary().Metric != r.Metric || len(s.Variants[1].Settings) > 0 {
				t.Errorf("%s, in turns %t: %s, by %s", r.Case, beside, how, s.Primary().Metric)
			}
		}
	}
}

func TestCasesOfServers(t *testing.T) {
	for only, n := range map[string]int{"": 4, "web": 2, "mail": 1} {
		if rows, err := casesOf(only); err != nil || len(rows) != n {
			t.Errorf("%q: %d cases, %v", only, len(rows), err)
		}
	}
	if _, err := casesOf("dns"); err == nil {
		t.Error("dns is a case")
	}
}

func TestServersBenchIsPrinted(t *testing.T) {
	way := func(half, seconds float64) serverWay {
		return serverWay{Half: []float64{half}, Seconds: []float64{seconds}, Median: stats.Num(half)}
	}
	out := show.NewPage(show.Style{Width: show.DefaultWidth})
	b := serversBench{Rounds: 1, Label: "veth", Rows: []serversRow{{Case: "mail", Beside: way(5, 20), After: serverWay{Seconds: []float64{30}}}}}
	b.page(out, 10)
	if text := out.String(); !strings.Contains(text, "5.0 %") || !strings.Contains(text, "30 s") {
		t.Errorf("%s", text)
	}
}

package chart

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		name      string
		at        []float64
		gap       float64
		low, high float64
	}{
		{"apart already", []float64{10, 50, 90}, 15, 0, 100},
		{"all at one place", []float64{50, 50, 50, 50}, 15, 0, 100},
		{"at the lower edge", []float64{99, 99, 98}, 15, 0, 100},
		{"out of order", []float64{80, 20, 22, 79}, 15, 0, 100},
	} {
		got := Spread(c.at, c.gap, c.low, c.high)
		for i := range got {
			if got[i] < c.low-1e-9 || got[i] > c.high+1e-9 {
				t.Errorf("%s: %v leaves %g…%g", c.name, got, c.low, c.high)
			}
			for j := range got {
				if i != j && math.Abs(got[i]-got[j]) < c.gap-1e-9 {
					t.Errorf("%s: %v has labels closer than %g", c.name, got, c.gap)
				}
				if c.at[i] < c.at[j] && got[i] > got[j] {
					t.Errorf("%s: %v changed the order of %v", c.name, got, c.at)
				}
			}
		}
	}
}

func TestTicks(t *testing.T) {
	if got := (Scale{From: -80, To: 3, Span: 400}).Ticks(5); !slices.Equal(got, []float64{-80, -60, -40, -20, 0}) {
		t.Errorf("%v", got)
	}
	if got := (Scale{From: 90, To: 2100, Log: true}).Ticks(6); !slices.Equal(got, []float64{100, 200, 500, 1000, 2000}) {
		t.Errorf("%v", got)
	}
	if got := (Scale{From: 0, To: 0}).Ticks(5); len(got) > 2 {
		t.Errorf("%v", got)
	}
}

// TestTicksOfShortScales: an axis has several ticks, however little it spans.
func TestTicksOfShortScales(t *testing.T) {
	for _, to := range []float64{1050, 1100, 1500, 1999, 2500, 9000, 9e6} {
		for _, log := range []bool{false, true} {
			s := Scale{From: 930, To: to, Span: 700, Log: log}
			if got := s.Ticks(5); len(got) < 2 || len(got) > 9 {
				t.Errorf("up to %g, logarithmic %v: %v", to, log, got)
			}
		}
	}
}

// TestAlone: a chart by itself escapes texts and brings its style.
func TestAlone(t *testing.T) {
	c := New(40)
	c.Text("name", "start", 0, 10, "<b>")
	c.Dot("trial c1", 4, 4, 3, `"quoted" & more`)
	for _, want := range []string{"&lt;b&gt;", "&#34;quoted&#34; &amp; more", "prefers-color-scheme: dark"} {
		if !strings.Contains(string(Alone(c.SVG("label"))), want) {
			t.Errorf("the chart lacks %s", want)
		}
	}
	if alone := string(Alone(c.SVG("label"))); !strings.HasPrefix(alone, `<svg class="chart" `) || !strings.Contains(alone, "<style>") || strings.Contains(alone, "\u00a0") {
		t.Errorf("alone: %.300s", alone)
	}
}

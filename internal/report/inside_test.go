package report

import (
	"encoding/xml"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"linerate/internal/chart"
	"linerate/internal/drop"
	"linerate/internal/study"
)

// shapesOf are a chart's elements with what numbers they have.
func shapesOf(t *testing.T, svg string) (width, height float64, shapes []map[string]string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if err != nil {
			return width, height, shapes
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		at := map[string]string{"element": e.Name.Local}
		for _, a := range e.Attr {
			at[a.Name.Local] = a.Value
		}
		if at["element"] == "svg" {
			if _, err := fmt.Sscanf(at["viewBox"], "0 0 %f %f", &width, &height); err != nil {
				t.Fatalf("viewBox %q: %v", at["viewBox"], err)
			}
		}
		shapes = append(shapes, at)
	}
}

// checkPicture asks that every shape of a chart lies in it, and that no label
// lies on another.
func checkPicture(t *testing.T, svg string) {
	t.Helper()
	width, height, shapes := shapesOf(t, svg)
	number := func(s map[string]string, key string) float64 {
		v, _ := strconv.ParseFloat(s[key], 64)
		return v
	}
	const slack = 1.0
	labels := map[string]bool{}
	for _, s := range shapes {
		if s["element"] == "svg" || strings.HasPrefix(s["class"], "law") {
			continue
		}
		for _, key := range []string{"x", "x1", "x2", "cx"} {
			if v := number(s, key) + number(s, "width"); v < -slack || v > width+slack {
				t.Errorf("%s beside a picture %g wide: %v", key, width, s)
			}
		}
		for _, key := range []string{"y", "y1", "y2", "cy"} {
			if v := number(s, key) + number(s, "height"); v < -slack || v > height+slack {
				t.Errorf("%s below a picture %g high: %v", key, height, s)
			}
		}
		if s["element"] == "text" {
			at := s["x"] + " " + s["y"] + " " + s["text-anchor"]
			if labels[at] {
				t.Errorf("two labels at %s of %.200s", at, svg)
			}
			labels[at] = true
		}
	}
}

// TestEverythingLiesInThePicture: on a desk and on a phone, with names enough
// for a legend of several rows.
func TestEverythingLiesInThePicture(t *testing.T) {
	s, r := results(t)
	for _, p := range s.Parts {
		r.Drops = append(r.Drops, study.Drops{Part: p.Name, Variant: r.Control, Account: drop.Attribute(1000, 100, 0, drop.Counters{
			"generator.output_drops": 200, "conntrack.drop": 200, "softnet.dropped": 100, "ip.InNoRoutes": 100, "nft.drop": 100})})
	}
	page, err := plainHTML(s, r)
	if err != nil {
		t.Fatal(err)
	}
	charts := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(string(page), -1)
	if len(charts) < 10 {
		t.Fatalf("%d charts", len(charts))
	}
	for _, c := range charts {
		checkPicture(t, c)
	}
	m, _ := study.MetricNamed(study.CostNS)
	for n := 1; n <= 5; n++ {
		g := curveGroup{Curve: study.Curve{Label: "rules"}, metric: m, base: 700, baseName: "none"}
		for i := range n {
			c := study.Curve{Name: fmt.Sprintf("curve %d", i)}
			for x := 1.0; x <= 1000; x *= 10 {
				c.Points = append(c.Points, study.Spot{X: x, Value: 700 + x*float64(i+1), N: 3})
			}
			g.curves = append(g.curves, c)
		}
		for _, width := range []float64{chart.Narrow, chart.Wide} {
			checkPicture(t, curveChart(g, width))
		}
		_, height, shapes := shapesOf(t, curveChart(g, chart.Narrow))
		lowest := 0.0
		for _, s := range shapes {
			if y, err := strconv.ParseFloat(s["y"], 64); err == nil && s["element"] == "text" {
				lowest = max(lowest, y)
			}
		}
		if height-lowest > 12 {
			t.Errorf("%d curves: %g of a phone's picture are empty below the legend", n, height-lowest)
		}
	}
}

// TestCountersPerPacket: each counter has a column of its own, wherever it was
// had, and work is told per cycle.
func TestCountersPerPacket(t *testing.T) {
	of := func(variant string, counts map[string]float64) study.Telemetry {
		v := study.Telemetry{Variant: variant}
		for _, event := range []string{"cycles", "instructions", "cache misses"} {
			if n, ok := counts[event]; ok {
				v.PerPacket = append(v.PerPacket, study.PerPacket{Event: event, Count: n, Packets: 10})
			}
		}
		return v
	}
	table := perPacket([]study.Telemetry{of("none", map[string]float64{"cycles": 20_000, "instructions": 30_000}),
		of("rules", map[string]float64{"cycles": 40_000, "instructions": 100_000, "cache misses": 15}), of("half", map[string]float64{"cycles": 10_000}), {Variant: "unseen"}})
	if want := []string{"variant", "cycles", "instructions", "cache misses", "instructions per cycle"}; !slices.Equal(table.Header, want) {
		t.Fatalf("header %v", table.Header)
	}
	want := [][]string{{"none", "2,000", "3,000", "–", "1.50"}, {"rules", "4,000", "10,000", "1.50", "2.50"}, {"half", "1,000", "–", "–", "–"}}
	if !reflect.DeepEqual(table.Rows, want) {
		t.Errorf("%v", table.Rows)
	}
	if right := table.Numbers(); right[0] || !right[1] || !right[3] {
		t.Errorf("at the right: %v", right)
	}
}

package report

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"linerate/internal/document"
	"linerate/internal/drop"
	"linerate/internal/study"
)

// shapesOf returns a chart's elements with their numeric attributes.
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

// checkPicture checks that every shape of a chart lies within it, and that no labels overlap.
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

// TestEverythingLiesInThePicture: at desktop and phone width, with enough names for a legend of
// several rows.
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
	if len(charts) < 2 {
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
		checkPicture(t, curveChart(g))
	}
}

// TestNotSeen: what could not be observed is stated once.
func TestNotSeen(t *testing.T) {
	r := study.Results{Telemetry: []study.Telemetry{{Missing: []study.Missing{{What: "cycles", Why: "no PMU"}}}, {Missing: []study.Missing{{What: "cycles", Why: "no PMU"}}}}}
	if got := lacks(r); len(got) != 1 || got[0] != document.Block(document.Note("Not seen: cycles: no PMU.")) {
		t.Errorf("%q", got)
	}
}

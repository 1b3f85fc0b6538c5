package report

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"linerate/internal/document"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// plainHTML returns the page with no-break spaces replaced by plain ones.
func plainHTML(s study.Spec, r study.Results) ([]byte, error) {
	page, err := HTML(s, r)
	return bytes.ReplaceAll(page, []byte("\u00a0"), []byte(" ")), err
}

// TestLackingTogether: variants that lack the same thing are named together.
func TestLackingTogether(t *testing.T) {
	r := study.Results{Unavailable: []study.Unavailable{
		{Variant: "cpus-2", Reason: "ingress on 2 CPUs: this machine has 1 CPU beside the generator's"},
		{Variant: "gre", Reason: "one more router: no gre"},
		{Variant: "cpus-3", Reason: "ingress on 3 CPUs: this machine has 1 CPU beside the generator's"}}}
	host := " is global to the kernel (scope: host), and not allowed"
	r.Unavailable = append(r.Unavailable, study.Unavailable{Variant: "a", Reason: "sysctl x=1" + host}, study.Unavailable{Variant: "b", Reason: "sysctl y=2" + host})
	want := []lacking{{"cpus-2 and cpus-3", "are", "this machine has 1 CPU beside the generator's"}, {"gre", "is", "one more router: no gre"}, {"a", "is", "sysctl x=1" + host}, {"b", "is", "sysctl y=2" + host}}
	if got := lackings(r); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// TestPlaceTick: a value in the thousands is printed with all digits.
func TestPlaceTick(t *testing.T) {
	for v, want := range map[float64]string{1518: "1,518", 1000: "1k", 500000: "500k", 64: "64"} {
		if got := placeTick(v); got != want {
			t.Errorf("%g: %q", v, got)
		}
	}
}

// TestManyPartsInOneTable: the results of parts other than the primary one are in one table.
func TestManyPartsInOneTable(t *testing.T) {
	s, r := resultsOf(t, spec+"  - {name: p1, blocks: 3}\n  - {name: p2, blocks: 3}\n  - {name: p3, blocks: 3}\n")
	var b bytes.Buffer
	if err := Terminal(&b, s, r, show.Style{}); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.Count(text, "other metrics and parts") != 1 || !strings.Contains(text, "p2 ") {
		t.Errorf("parts are not in one table:\n%s", text)
	}
	page, err := plainHTML(s, r)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(page); strings.Count(text, "Other metrics and parts") != 2 || strings.Count(text, `class="chart"`) != 2 {
		t.Errorf("the page has a chart of each part: %v", regexp.MustCompile("<(h2|h3|summary).*>").FindAllString(text, -1))
	}
}

// TestAlsoWatched: the other metrics of a live host are shown next to the deciding one, in their
// own units.
func TestAlsoWatched(t *testing.T) {
	r := study.Results{Control: "as-is", Verdicts: []study.Verdict{{Primary: true, Metric: study.RoundTrip}, {Metric: study.DropsPerPacket, Variant: "it"},
		{Metric: study.Retransmits, Variant: "it", ControlMean: stats.Num(0.01), VariantMean: stats.Num(0.02), Result: stats.Result{N: 8, Verdict: stats.Worse}}}}
	rows := others(r)[0].(document.OnPage)[1].(document.Table).Rows
	if len(rows) != 2 || rows[0][3] != show.Unknown || rows[1][3] != "1.00 %" || rows[1][4] != "2.00 %" || rows[1][8] != "worse" {
		t.Errorf("%q", rows)
	}
}

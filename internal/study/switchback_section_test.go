package study

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/document"
)

// pairsOf returns the windows of eight pairs whose metric follows the traffic, and is 4 % lower
// under treatment.
func pairsOf(metric string) (trials []Trial) {
	r := rand.New(rand.NewPCG(4, 2))
	for pair := 1; pair <= 8; pair++ {
		for half, arm := range []string{"as-is", "it"} {
			traffic := 1000 * math.Exp(0.2*r.NormFloat64())
			v := 100 * math.Pow(traffic/1000, 0.8) * math.Exp(0.003*r.NormFloat64())
			if arm == "it" {
				v *= 0.96
			}
			w := &Window{Pair: pair, Half: half + 1, Of: "it", Value: map[string]float64{metric: v}, Traffic: traffic,
				At: []float64{1, 2}, Series: map[string][]*float64{metric: {&v, nil}}, Nearest: map[string]Nearest{"run queue": {Share: 0.3, Value: 1, Limit: 4, At: 1}}}
			trials = append(trials, Trial{Part: "day", Seconds: 60, Start: time.Unix(int64(60*(2*pair+half)), 0), Variant: arm, Block: pair, Valid: true, Observed: &Observation{Window: w}})
		}
	}
	return trials
}

// TestSection: the page shows the windows, and tables without malformed numbers.
func TestSection(t *testing.T) {
	spec, err := Parse("live.yaml", []byte(`
name: live
question: Does it help?
testbed: {kind: live}
variants: [{name: as-is}, {name: it, settings: [{sysctl: net.ipv4.tcp_sack, value: "0"}]}]
parts: [{name: day, blocks: 8, live: {window: 60, watch: [rtt]}}]
metrics: [{metric: round_trip_ns, part: day, primary: true}]
`))
	if err != nil {
		t.Fatal(err)
	}
	trials := pairsOf(RoundTrip)
	titles := map[string][][]string{}
	blocks := switchbackSections(spec, Results{Trials: trials, Seed: 1})
	tables := blocks[len(blocks)-1].(document.OnPage)
	for _, table := range tables {
		titles[table.(document.Table).Title] = table.(document.Table).Rows
	}
	for title, rows := range titles {
		for _, row := range rows {
			if text := strings.Join(row, " "); strings.Contains(text, "e+") || strings.Contains(text, "[-") {
				t.Errorf("%s: %s", title, text)
			}
		}
	}
	if len(blocks) != 3 {
		t.Fatalf("%d figures", len(blocks)-1)
	}
	if svg := string(blocks[1].(document.Figure).SVG); !strings.Contains(svg, "<svg") || strings.Contains(svg, "NaN") {
		t.Errorf("%.200s", svg)
	}
}

// TestTablesOfWindows: guardrails are listed with their nearest approach, drops by arm.
func TestTablesOfWindows(t *testing.T) {
	trials := pairsOf(LogP95)
	at := func(i int) *Window { return trials[i].Observed.Window }
	at(3).Nearest["memory in use"] = Nearest{Share: 0.5, Value: 0.4, Limit: 0.97, Unit: "%", At: 1}
	windows := windowsOf(trials, "day")
	if rows := guardTable(windows).Rows; len(rows) != 2 || !slices.Equal(rows[0], []string{"memory in use", "50 %", "40.0 %", "97.0 %", "pair 2.2, 3:01", ""}) {
		t.Errorf("%q", rows)
	}
	at(0).Drops = map[string]float64{"listen queues": at(0).Traffic / 2}
	table := dropTable(windowsOf(trials[:2], "day"))
	if len(table.Rows) != 1 || !slices.Equal(table.Header, []string{"place", "as-is", "it"}) || !slices.Equal(table.Rows[0], []string{"listen queues", "50.0 %", "0 %"}) {
		t.Errorf("%+v", table)
	}
}

// TestMetricText: a log with whole milliseconds cannot show shorter times, so zero is "below 1 ms".
func TestMetricText(t *testing.T) {
	for _, c := range []struct {
		metric, want string
		v            float64
	}{{LogP95, "below 1 ms", 0}, {LogP95, "3.00 ms", 3e6}, {RoundTrip, "0 ns", 0}, {DropsPerPacket, "0 %", 0}, {DropsPerPacket, "0.000120 %", 1.2e-6}, {WatchedLower, "0", 0},
		{CPUPerPacket, "below a clock tick", 0}, {CPUPerPacket, "505 µs", 504701}, {DeliveryRate, "11.6 Mbit/s", 11.6e6},
		{LogRate, "4.66 requests/s", 4.65552}, {LogRate, "0.0167 requests/s", 1. / 60}, {LogRate, "12,346 requests/s", 12345.6}, {WatchedHigher, "0.00345", 0.00345}} {
		m, ok := MetricNamed(c.metric)
		if got := m.Text(c.v); !ok || got != c.want {
			t.Errorf("%s of %g is %q, want %q", c.metric, c.v, got, c.want)
		}
	}
}

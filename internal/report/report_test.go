package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"linerate/internal/show"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

const spec = `name: small
question: What do rules cost?
seed: 5
variants:
  - name: none
  - name: rules-100
    settings:
      - firewall: {linear: 100}
  - name: hook
    summary: <b>bold & hostile</b>
    settings:
      - nft: "table ip x { # </style><script>alert(1)</script>\n}"
blocks: 4
parts:
  - mode: cost
  - {mode: overload, blocks: 3}
`

// results are a study with known costs, one invalid trial and noise.
func results(t *testing.T) (study.Spec, study.Results) {
	t.Helper()
	return resultsOf(t, spec)
}

func resultsOf(t *testing.T, text string) (study.Spec, study.Results) {
	t.Helper()
	s, err := study.Parse("small.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var trials []study.Trial
	for i, slot := range study.Schedule(s, 5) {
		part, _ := s.Part(slot.Part)
		cost := map[string]float64{"none": 700, study.AA: 700, "rules-100": 980, "hook": 704}[slot.Variant] * (1 + 0.001*rng.NormFloat64())
		tr := study.Trial{Part: slot.Part, Variant: slot.Variant, Block: slot.Block, Order: slot.Order, Mode: part.Mode,
			Start: start.Add(time.Duration(i) * time.Second), Seconds: 0.9, Valid: true, Reasons: []study.Refusal{}}
		if part.Mode == testbed.Cost {
			tr.Metrics = map[string]float64{study.CostNS: cost, study.ForwardingRate: 1e9 / cost, study.ChainNS: cost + 150, study.BypassNS: 150}
		} else {
			tr.Metrics = map[string]float64{study.OverloadRate: 1e9 / cost, study.OfferedRate: 6e6, study.LossRatio: 1 - 1e3/6/cost,
				study.LatencyP50: 200 * cost, study.LatencyP99: 450 * cost}
		}
		if i == 3 {
			tr.Valid, tr.Reasons = false, []study.Refusal{{Gate: "drift", Text: "CPU 0 changed speed by 20.0 % during the trial (limit 15 %)"}}
		}
		trials = append(trials, tr)
	}
	env := study.Environment{OS: "linux", Kernel: "6.18", Arch: "x86_64", CPU: "test CPU", CPUs: 2, Engine: "xdp", Label: "veth, not a NIC",
		Command: []string{"linerate", "demo"}, Testbeds: map[string]study.BedNotes{"cost": {Notes: []string{"all on CPU 1"}}}}
	return s, study.Analyse(s, 5, env, trials)
}

func TestTerminal(t *testing.T) {
	s, r := results(t)
	var b bytes.Buffer
	if err := Terminal(&b, s, r, show.Style{}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{
		"What do rules cost?\n", "Against none, the cost is ", "higher with rules-100 (+28", "hook is equivalent within 3 %",
		"A/A: none against itself", "Noise floor", "veth, not a NIC", "1 of 28 trials are invalid", "other metrics and parts", "forwarding rate under overload",
	} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
	if ansi.Strip(text) != text {
		t.Error("a plain report has escape sequences")
	}
	for i, line := range strings.Split(text, "\n") {
		if n := show.Width(line); n > 96 && strings.Contains(line, "|") {
			t.Errorf("line %d has %d columns", i+1, n)
		}
	}
}

// TestNothingValid: a study with nothing to compare, and no valid trial, still names its part.
func TestNothingValid(t *testing.T) {
	s, r := results(t)
	for i := range r.Trials {
		r.Trials[i].Valid, r.Trials[i].Reasons = false, []study.Refusal{{Gate: "headroom"}}
		if v := r.Trials[i].Variant; v != s.Control && v != study.AA {
			r.Trials[i].Unavailable = "not here"
		}
	}
	var b bytes.Buffer
	if err := Terminal(&b, s, study.Analyse(s, 5, r.Environment, r.Trials), show.Style{}); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, ", part "+r.Trials[0].Part+", 0 blocks") {
		t.Error(text)
	}
}

// TestMeasuredOn: a machine of which little is known leaves no gaps in the text.
func TestMeasuredOn(t *testing.T) {
	s, r := results(t)
	for _, c := range []struct{ kernel, cpu, want string }{
		{"14.0-STABLE", "a CPU", "beds (14.0-STABLE, a CPU). "}, {"14.0-STABLE", "", "beds (14.0-STABLE). "}, {"", "", "Measured on beds. "},
	} {
		r.Environment.Label, r.Environment.Kernel, r.Environment.CPU, r.Environment.CPUs = "beds", c.kernel, c.cpu, 0
		var b bytes.Buffer
		page, err := plainHTML(s, r)
		if err := errors.Join(err, Terminal(&b, s, r, show.Style{})); err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(text, c.want) {
			t.Errorf("%+v: %s", c, text)
		}
		if c.cpu == "" && bytes.Contains(page, []byte("× 0")) {
			t.Errorf("%+v: the page tells of no CPUs", c)
		}
	}
}

// TestSharesInPoints: no page states a change of a share in per cent of the share.
func TestSharesInPoints(t *testing.T) {
	s, r := results(t)
	for i := range r.Trials {
		if m := r.Trials[i].Metrics; r.Trials[i].Variant != "rules-100" && m[study.LossRatio] > 0 {
			m[study.LossRatio] = 0.00001 * float64(i%4)
		}
	}
	s.Metrics = []study.Goal{{Metric: study.LossRatio, Part: "overload", Primary: true, MarginPoints: 2}}
	r = study.Analyse(s, 5, r.Environment, r.Trials)
	var b bytes.Buffer
	page, err := plainHTML(s, r)
	if err := errors.Join(err, Terminal(&b, s, r, show.Style{})); err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"terminal": b.String(), "page": string(page)} {
		if !strings.Contains(text, "+83.0 points") || strings.Contains(text, "99,999 %") {
			t.Errorf("the %s tells it otherwise:\n%.3000s", what, text)
		}
	}
	if !strings.Contains(string(page), "margin of ±2 points") || !strings.Contains(string(page), " pt</text>") {
		t.Error("the chart's margin and axis are not in points")
	}
}

func TestTerminalColour(t *testing.T) {
	s, r := results(t)
	var plain, colour bytes.Buffer
	if err := errors.Join(Terminal(&plain, s, r, show.Style{}), Terminal(&colour, s, r, show.Style{Colour: true})); err != nil {
		t.Fatal(err)
	}
	stripped := ansi.Strip(colour.String())
	if !strings.Contains(colour.String(), show.Style{Colour: true}.Paint(show.Bad, "worse")) || stripped != plain.String() {
		t.Error("colour changes more than the colour")
	}
}

func TestDotPlotHasEveryTrial(t *testing.T) {
	_, r := results(t)
	p := show.NewPage(show.Style{Width: 80})
	strips(p, r)
	count := 0
	for line := range strings.Lines(p.String()) {
		if strings.Contains(line, "A") && strings.Contains(line, "|  ") && !strings.Contains(line, "A/A") {
			continue
		}
		_, row, ok := strings.Cut(line, "|")
		if !ok {
			continue
		}
		for _, c := range row {
			switch {
			case c == 'x':
				count++
			case c >= '2' && c <= '9':
				count += int(c - '0')
			}
		}
	}
	if want := 4*4 - 1; count != want {
		t.Errorf("%d dots, want %d:\n%s", count, want, p.String())
	}
}

func rendered(t *testing.T) string {
	t.Helper()
	s, r := results(t)
	out, err := plainHTML(s, r)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestHTMLLoadsNothing(t *testing.T) {
	page := rendered(t)
	for _, bad := range []string{`src=`, `href="h`, `href="/`, `href=h`, `url(`, `@import`, `<script`, `<link`, `<iframe`, `<img`} {
		if strings.Contains(strings.ToLower(page), bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if m := regexp.MustCompile(`https?://[^"]*`).FindAllString(page, -1); slices.ContainsFunc(m, func(u string) bool { return u != "http://www.w3.org/2000/svg" }) {
		t.Errorf("the page names other hosts: %q", m)
	}
}

func TestHTMLSaysWhatItMust(t *testing.T) {
	page := rendered(t)
	for _, want := range []string{
		"What do rules cost?", "veth, not a NIC", "noise floor", "minimum detectable effect", "Every trial in time order",
		"latency, median", "Gates and invalid trials", "drift: CPU 0 changed speed by 20.0 %", "Environment", "test CPU",
		"linerate study run study.yaml --seed 5", "all on CPU 1", "prefers-color-scheme: dark", "@media print", "width=device-width",
		"&lt;b&gt;bold &amp; hostile&lt;/b&gt;",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	answer := strings.Index(page, "Against none, the cost is")
	if first := strings.Index(page, "<svg"); answer < 0 || first < answer {
		t.Error("the answer does not come before the charts")
	}
}

// TestChartsAreWellFormed reads every chart as XML and checks that no number is NaN.
func TestChartsAreWellFormed(t *testing.T) {
	page := rendered(t)
	charts := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1)
	if len(charts) < 2 {
		t.Fatalf("%d charts", len(charts))
	}
	for _, c := range charts {
		if strings.Contains(c, "NaN") || strings.Contains(c, "Inf") {
			t.Errorf("a chart has no number where it needs one: %.200s", c)
		}
		fits(t, c)
		d := xml.NewDecoder(strings.NewReader(c))
		for {
			_, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v in %.200s", err, c)
			}
		}
	}
}

// fits checks that no text leaves its chart, assuming that a letter is at least 5.5 pixels wide, a
// bold one 6.5.
func fits(t *testing.T, chart string) {
	t.Helper()
	_, box, _ := strings.Cut(chart, "viewBox=")
	var wide float64
	if _, err := fmt.Sscanf(box, `"0 0 %f`, &wide); err != nil {
		t.Fatal(err)
	}
	texts := regexp.MustCompile(`<text class="([^"]*)" text-anchor="(\w+)" x="([-0-9.]+)" y="[-0-9.]+">([^<]*)</text>`).FindAllStringSubmatch(chart, -1)
	if len(texts) == 0 {
		t.Errorf("a chart of no words: %.200s", chart)
	}
	for _, m := range texts {
		x, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		letter := 5.5
		if m[1] == "number" {
			letter = 6.5
		}
		long := letter * float64(show.Width(html.UnescapeString(m[4])))
		from := map[string]float64{"start": x, "middle": x - long/2, "end": x - long}[m[2]]
		if from < 0 || from+long > wide {
			t.Errorf("%q reaches from %.0f to %.0f in a chart of %.0f", m[4], from, from+long, wide)
		}
	}
}

// TestChartsOfAHoleyStudy draws a study in which one variant has no valid
// trial in one part.
func TestChartsOfAHoleyStudy(t *testing.T) {
	s, r := results(t)
	trials := slices.Clone(r.Trials)
	without := func(invalid func(study.Trial) bool) string {
		for i := range trials {
			if trials[i].Mode == testbed.Overload && invalid(trials[i]) {
				trials[i].Valid, trials[i].Reasons = false, []study.Refusal{{Gate: "starved", Text: "by a test"}}
			}
		}
		page, err := plainHTML(s, study.Analyse(s, 5, r.Environment, trials))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(page), "NaN") {
			t.Error("a variant without values draws NaN")
		}
		return string(page)
	}
	if page := without(func(tr study.Trial) bool { return tr.Variant == "hook" }); !strings.Contains(page, ">invalid<") {
		t.Error("one variant without a number is not told as such")
	}
	without(func(study.Trial) bool { return true })
	trials = slices.DeleteFunc(trials, func(tr study.Trial) bool { return tr.Mode == testbed.Overload })
	without(func(study.Trial) bool { return false })
}

func TestReportsOfNothing(t *testing.T) {
	s, err := study.Parse("small.yaml", []byte(spec))
	if err != nil {
		t.Fatal(err)
	}
	r := study.Analyse(s, 5, study.Environment{}, nil)
	var b bytes.Buffer
	if err := Terminal(&b, s, r, show.Style{}); err != nil {
		t.Fatal(err)
	}
	page, err := plainHTML(s, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{b.String(), string(page)} {
		if strings.Contains(text, "NaN") {
			t.Errorf("a study without trials reports NaN:\n%.2000s", text)
		}
	}
}

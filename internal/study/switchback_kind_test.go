package study

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/hint"
	"linerate/internal/show"
	"linerate/internal/stats"
)

const live = `name: live
question: Does it help?
testbed: {kind: live}
variants: [{name: as-is}, {name: it, settings: [{sysctl: net.ipv4.tcp_sack, value: "0"}]}]
parts: [{name: day, blocks: 8, live: {window: 60, watch: [rtt, retransmits]}}]
metrics: [{metric: round_trip_ns, part: day, primary: true, margin_percent: 2}, {metric: retransmit_ratio, part: day}]
`

func switchbackParse(t *testing.T, text string) Spec {
	t.Helper()
	s, err := Parse("live.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// played returns a study's trials by its schedule; value returns the metric under an arm in a block.
func played(s Spec, seed uint64, value func(arm string, block int) float64) (trials []Trial) {
	for i, slot := range pairSlots(&s, s.Parts[0], seed, 1) {
		of := "it"
		if slot.Variant == AA {
			of = Sham
		}
		w := &Window{Pair: slot.Block, Half: slot.Order, Of: of, Traffic: 1000, Value: map[string]float64{RoundTrip: value(slot.Variant, slot.Block), Retransmits: 0.01}}
		trials = append(trials, Trial{Part: "day", Block: slot.Block, Order: slot.Order, Variant: slot.Variant, Valid: true, Seconds: 60, Start: time.Unix(int64(60*i), 0),
			Reasons: []Refusal{}, Metrics: w.Value, Observed: &Observation{Window: w}})
	}
	for i := range trials { // a sham pair's control belongs to the sham
		for k := range trials {
			if trials[k].Block == trials[i].Block && trials[k].Variant == AA {
				trials[i].Saw().Window.Of = Sham
			}
		}
	}
	return trials
}

func switchbackAt(arm string, block int) float64 {
	v := 1e6 * (1 + 0.05*math.Sin(float64(block))) * (1 + 0.002*math.Cos(float64(7*block)))
	if arm == "it" {
		v *= 0.9 + 0.001*float64(block%3)
	}
	return v
}

// TestOrderIsTheSchedule: every pair is a block of two windows in which the control comes first or
// last, each treatment has the pairs that were asked for, and shams belong to the A/A arm.
func TestOrderIsTheSchedule(t *testing.T) {
	s := switchbackParse(t, live)
	slots := pairSlots(&s, s.Parts[0], 3, 1)
	pairs := map[string]int{}
	for i := 0; i < len(slots); i += 2 {
		a, b := slots[i], slots[i+1]
		if a.Block != 1+i/2 || b.Block != a.Block || a.Order != 1 || b.Order != 2 || a.Part != "day" || (a.Variant == "as-is") == (b.Variant == "as-is") {
			t.Fatalf("block of %+v and %+v", a, b)
		}
		pairs[a.Variant]++
		pairs[b.Variant]++
	}
	if pairs["it"] != 6 || pairs[AA] != 2 || pairs["as-is"] != 8 {
		t.Errorf("eight blocks have the pairs %v", pairs)
	}
	later := pairSlots(&s, s.Parts[0], 3, 11)
	if later[0].Block != 11 || later[0].Variant != slots[0].Variant {
		t.Errorf("from block 11 on: %+v", later[0])
	}
}

// TestJudgedWithinPairs: each arm is compared with the control of its own pairs, whatever the level
// of other pairs; a pair without one half is left out with a warning.
func TestJudgedWithinPairs(t *testing.T) {
	nan := math.NaN()
	control := stats.Arm{Name: "as-is", Values: []float64{100, 900, 101, 901, 102, 902, 103, 104, 105, nan}}
	it := stats.Arm{Name: "it", Values: []float64{90, nan, 91, nan, 92, nan, 93, 94, 95, 96}}
	sham := stats.Arm{Name: AA, Values: []float64{nan, 900, nan, 901, nan, 902, nan, nan, nan, nan, 7}}
	cs := compareSwitchback(control, []stats.Arm{it}, stats.Options{Better: stats.LowerIsBetter, Draws: 1})
	cs = append(cs, compareSwitchback(control, []stats.Arm{sham}, stats.Options{Draws: 1})...)
	if c := cs[0]; c.N != 6 || c.Verdict != stats.Better || !(math.Abs(c.EffectPercent.Estimate+9.76) <= 0.1) || c.Control != "as-is" || c.Variant != "it" || !slices.ContainsFunc(c.Warnings, func(w stats.Warning) bool { return w.Code == stats.MissingBlocks }) {
		t.Errorf("%+v, n = %d, %s: %v", c.EffectPercent, c.N, c.Verdict, c.Warnings)
	}
	if c := cs[1]; c.N != 3 || c.Effect.Estimate != 0 {
		t.Errorf("shams: n = %d, %+v", c.N, c.Effect)
	}
}

// TestManyPairsAreJudgedAsReported: beyond fourteen pairs randomizations are sampled, and a look and
// the report sample the same ones.
func TestManyPairsAreJudgedAsReported(t *testing.T) {
	control, it := stats.Arm{Name: "as-is"}, stats.Arm{Name: "it"}
	for i := range 30 {
		v := 100 * (1 + 0.1*math.Sin(float64(i)))
		control.Values, it.Values = append(control.Values, v), append(it.Values, v*(0.95+0.001*float64(i%5)))
	}
	look, report := compareSwitchback(control, []stats.Arm{it}, stats.Options{Better: stats.LowerIsBetter, Seed: 4, Draws: 1, NoPlan: true})[0], compareSwitchback(control, []stats.Arm{it}, stats.Options{Better: stats.LowerIsBetter, Seed: 4})[0]
	if look.Verdict != stats.Better || look.P != report.P || look.Effect.Interval != report.Effect.Interval || look.P > 0.001 {
		t.Errorf("a look gives p = %g and %+v, the report p = %g and %+v", look.P, look.Effect.Interval, report.P, report.Effect.Interval)
	}
}

// TestStopIsNoMeasurement: a study that a guardrail stopped is complete, and reports no metric under
// that variant.
func TestStopIsNoMeasurement(t *testing.T) {
	s := switchbackParse(t, live)
	trials := played(s, 3, switchbackAt)
	r := Analyse(s, 3, Environment{}, trials)
	verdict := func(metric string) Verdict {
		i := slices.IndexFunc(r.Verdicts, func(v Verdict) bool { return v.Metric == metric })
		return r.Verdicts[i]
	}
	if v := verdict(RoundTrip); v.Verdict != stats.Better || v.N != 6 || !r.Complete || !strings.Contains(v.Method, "randomisation") {
		t.Errorf("%+v, complete %t", v, r.Complete)
	}
	if v := verdict(Retransmits); v.Verdict.Differs() {
		t.Errorf("%+v", v)
	}
	// Two sham pairs show no scatter, so the detectable effect is the treatment's.
	if r.MDE != verdict(RoundTrip).MDE || !r.MDE.Known() {
		t.Errorf("detectable effect %v, the treatment's %v", r.MDE, verdict(RoundTrip).MDE)
	}
	if variant, trip := TripOf(trials); variant != "" || trip != nil {
		t.Errorf("nothing tripped: %q, %+v", variant, trip)
	}
	spoiled := slices.Clone(trials)
	spoiled[slices.IndexFunc(spoiled, func(t Trial) bool { return t.Variant == "it" })].Valid = false
	if r := Analyse(s, 3, Environment{}, spoiled); r.Complete {
		t.Error("a study with five valid pairs of six is complete")
	}
	few := slices.Clone(trials[:8])
	if r := Analyse(s, 3, Environment{}, few); r.Complete || r.MDE.Known() {
		t.Errorf("four pairs of eight: complete %t, detectable %v", r.Complete, r.MDE)
	}
	treated := slices.IndexFunc(few, func(t Trial) bool { return t.Variant == "it" })
	few[treated].Saw().Window.Trip = &Trip{Guardrail: "5xx", Text: "5xx were 12 %, beyond 5.0 %"}
	few[treated].Valid, few[treated].Reasons = false, Reasons(GateGuard+": 5xx were 12 %, beyond 5.0 %")
	r = Analyse(s, 3, Environment{}, few)
	for _, metric := range []string{RoundTrip, Retransmits} {
		if v := verdict(metric); v.Verdict != stats.Stopped || v.Method != stats.GuardrailEnded || v.EffectPercent.Known() || v.PHolm.Known() || v.Difference.Known() || !v.ControlMean.Known() {
			t.Errorf("verdict of a study that a guardrail stopped: %+v", v)
		}
	}
	if e := r.Ended; !r.Complete || e == nil || e.Variant != "it" || e.Guardrail != "5xx" || e.Pairs != verdict(RoundTrip).N {
		t.Errorf("complete %t, ended %+v", r.Complete, r.Ended)
	}
	if want := `Guardrail "5xx" ended the study under it after 2 pairs, and the host was restored: 5xx were 12 %, beyond 5.0 %. Of the metrics under it nothing is known.`; r.Answer != want {
		t.Errorf("%q", r.Answer)
	}
	if variant, trip := TripOf(few); variant != "it" || trip == nil || trip.Guardrail != "5xx" {
		t.Errorf("%q, %+v", variant, trip)
	}
}

// TestGatesOfWindows: a window is refused for each thing that happened in it, under the gate of that
// name, and for nothing else.
func TestGatesOfWindows(t *testing.T) {
	s := switchbackParse(t, live)
	p := s.Parts[0]
	w := &Window{Value: map[string]float64{RoundTrip: 5}, Disturbed: []Disturbance{{GateBoot, "it booted"}, {GateKey, "net.x is 2"}, {GateKey, "net.y is 3"}}, Trip: &Trip{Text: "too slow"}}
	m, reasons := Judge(p, s.Gates, Observation{Window: w})
	var got []string
	for _, r := range reasons {
		got = append(got, r.String())
	}
	if want := []string{"changed: net.x is 2", "changed: net.y is 3", "boot: it booted", "guardrail: too slow"}; !slices.Equal(got, want) || m[RoundTrip] != 5 {
		t.Errorf("%q, want %q; %v", got, want, m)
	}
	if m, reasons := Judge(p, s.Gates, Observation{}); len(m) != 0 || len(reasons) != 0 {
		t.Errorf("an empty observation: %v, %v", m, reasons)
	}
	if len(KindSwitchback.gates()) != 8 {
		t.Errorf("%d gates", len(KindSwitchback.gates()))
	}
}

// TestMetricsOfSources: every source that users watch has its metric, direction and unit.
func TestMetricsOfSources(t *testing.T) {
	for source, want := range map[string]string{
		"cpu-per-packet": CPUPerPacket, "softirq-per-packet": SoftirqPerPacket, "cpu-per-request": CPUPerRequest, "retransmits": Retransmits, "rtt": RoundTrip, "delivery-rate": DeliveryRate, "drops": DropsPerPacket,
		"probe:http://198.18.0.2/": ProbeLatency, "command:cat /x": WatchedLower, "prometheus:http://x/?q=a#b": WatchedLower, "log:/x": LogP95, "log:/x#p50": LogP50, "log:/x#p99": LogP99,
		"log:/x#errors": LogErrors, "log:/x#rate": LogRate, "log:/x#p42": "", "loog:/x": "", "": "",
	} {
		if got := MetricOf(source, ""); got != want {
			t.Errorf("%q is %q, want %q", source, got, want)
		}
		if want != "" && !slices.ContainsFunc(switchbackMetrics, func(m Metric) bool { return m.Name == want && m.Verdict && m.Mode == SwitchbackMode }) {
			t.Errorf("%q is not a metric that has verdicts", want)
		}
	}
	if MetricOf("command:x", "higher") != WatchedHigher || MetricOf("prometheus:x", "lower") != WatchedLower || MetricOf("rtt", "higher") != RoundTrip {
		t.Error("user-defined values have the wrong direction")
	}
	for metric, want := range map[string]bool{LogRate: true, DeliveryRate: true, WatchedHigher: true, WatchedLower: false, RoundTrip: false, "": false} {
		if HigherIsBetter(metric) != want {
			t.Errorf("HigherIsBetter of %s is %t", metric, !want)
		}
	}
	s := switchbackParse(t, live)
	for _, m := range switchbackMetrics {
		if got, want := s.Parts[0].yields(m), m.Name == RoundTrip || m.Name == Retransmits; got != want {
			t.Errorf("yields %s: %t", m.Name, got)
		}
	}
	if m, ok := Timeline(s.Parts[0]); !ok || m.Name != RoundTrip {
		t.Errorf("timeline: %+v", m)
	}
	if _, ok := Timeline(Part{}); ok {
		t.Error("a part of another kind has a timeline")
	}
}

// TestTermsOfLiveStudies: defaults follow from the window, and invalid combinations are refused by
// their key.
func TestTermsOfLiveStudies(t *testing.T) {
	terms := func(keys string) Terms {
		t.Helper()
		return *switchbackParse(t, strings.Replace(live, "window: 60, ", keys, 1)).Parts[0].Live
	}
	for keys, want := range map[string][5]float64{ // window, burn-in, pilot, harm, imbalance
		"": {300, 60, 600, 20, 2}, "window: 20, ": {20, 4, 40, 20, 2}, "window: 2, ": {2, 0.4, 10, 20, 2}, "window: 1000, ": {1000, 200, 600, 20, 2},
		"window: 20, burn_in: 1, pilot: 7, harm_percent: 5, imbalance: 3, ": {20, 1, 7, 5, 3}, "window: 20, burn_in: 0, ": {20, 0, 40, 20, 2},
	} {
		if got := terms(keys); [5]float64{got.Window, got.BurnIn, got.Pilot, got.HarmPercent, got.Imbalance} != want {
			t.Errorf("%q: %+v, want %v", keys, got, want)
		}
	}
	s := switchbackParse(t, live)
	if p := s.Parts[0]; p.Seconds != 48 || p.Warmup != 12 || s.Expected(p) != 60 || s.Design != Switchback {
		t.Errorf("%+v, %s", p, s.Design)
	}
	if plan := PlanOf(s, s.Parts[0]); plan.Window != time.Minute || plan.BurnIn != 12*time.Second || !slices.Equal(plan.Treatments, []string{"it"}) || plan.Pairs != 6 {
		t.Errorf("%+v", plan)
	}
	for _, c := range []struct{ old, new, want, hint string }{
		{"window: 60", "window: 0.4", "window: 0.4 is not within 0.5 and 86400", ""}, {"window: 60", "window: 60, burn_in: 49", "burn_in: 49 is not within 0 and 48", ""},
		{"window: 60", "window: 60, harm_percent: 0.5", "harm_percent: 0.5 is not within 1 and 1000", ""}, {"window: 60", "window: 60, imbalance: 1", "imbalance: 1 is not within 1.1 and 100", ""},
		{"window: 60", "window: 60, max_share_percent: 51", "max_share_percent: 51 is not within 0 and 50", ""}, {"window: 60", "window: 60, better: more", `better: unknown "more"`, "higher"},
		{"window: 60", "window: 60, pilot: -1", "pilot: -1 is not within", ""}, {"watch: [rtt, retransmits]", "watch: []", "nothing is watched", "watch:"},
		{`sysctl: net.ipv4.tcp_sack, value: "0"`, "link: mtu, device: eth0, value: 9000", "can only change run-time settings", "kind: ssh"},
		{`sysctl: net.ipv4.tcp_sack, value: "0"`, "firewall: {linear: 3}", "can only change run-time settings", "kind: ssh"},
		{"testbed: {kind: live}\n", "testbed: {kind: netns}\ndefaults: {}\n", "live.yaml:", ""},
		{"testbed: {kind: live}\n", "", "modes switchback and connections need testbed live", "testbed: {kind: live"},
		{"parts: [{name: day", "parts: [{name: night, live: {watch: [rtt]}}, {name: day", "a live host is studied in one part", ""},
	} {
		text := strings.Replace(live, c.old, c.new, 1)
		if _, err := Parse("live.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(hint.Of(err), c.hint) {
			t.Errorf("%s: %v, hint %q; want %q, %q", c.new, err, hint.Of(err), c.want, c.hint)
		}
	}
	if switchbackParse(t, strings.Replace(live, `sysctl: net.ipv4.tcp_sack, value: "0"`, "link: gro, device: eth0, value: off", 1)).Variants[1].Settings == nil {
		t.Error("an offload of an interface is refused")
	}
}

// TestLateEffects: an effect that shows one window late is measured over both windows, where pairs
// alone would call a gain harm; one that takes longer has no verdict, but longer windows are proposed;
// an immediate one is judged by its pairs.
func TestLateEffects(t *testing.T) {
	s := switchbackParse(t, strings.Replace(live, "blocks: 8", "blocks: 32", 1))
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		what    string
		after   []float64 // effect by the number of windows since the arm's own
		verdict stats.Verdict
		method  string
		answer  string
	}{
		{"at once", []float64{-0.05}, stats.Better, stats.RandomisationTest, "lower with it"},
		{"a window late", []float64{0, -0.05}, stats.Better, stats.OverBothArms, "lower with it"},
		{"two windows late", []float64{0, -0.03, -0.04}, stats.Inconclusive, "", "windows of 60 s are too short for it: try 5:00"},
	} {
		trials := played(s, 5, func(string, int) float64 { return 0 })
		slices.SortFunc(trials, func(a, b Trial) int { return a.Start.Compare(b.Start) })
		for i := range trials {
			v := 0.1*math.Sin(float64(i)/10) + 0.005*r.NormFloat64()
			for k, effect := range c.after {
				if i >= k && trials[i-k].Variant == "it" {
					v += effect
				}
			}
			trials[i].Metrics[RoundTrip] = 1e6 * math.Exp(v)
		}
		got := Analyse(s, 5, Environment{}, trials)
		v := got.Verdicts[0]
		if v.Verdict != c.verdict || !strings.Contains(v.Method, c.method) || !strings.Contains(got.Answer, c.answer) || v.Late == nil || v.Late.P.Float() > 0.05 != (len(c.after) == 1) {
			t.Errorf("%s: %s by %s, %+v: %s", c.what, v.Verdict, v.Method, v.Late, got.Answer)
		}
		if effect := v.EffectPercent.Float(); v.Verdict == stats.Better && (math.Abs(effect+5) > 1 || !(v.CILow.Float() < -4.9 && v.CIHigh.Float() > -4.9)) {
			t.Errorf("%s: %s", c.what, v.Effect.TextWithBounds())
		}
	}
}

// TestForecast: what a study of an hour, six hours and a day could detect, and why it could detect
// nothing of a metric without scatter.
func TestForecast(t *testing.T) {
	s := switchbackParse(t, strings.Replace(live, "window: 60", "window: 300", 1))
	page := show.NewPage(show.Style{Width: 120})
	PrintForecast(page, s, map[string]Pilot{RoundTrip: {Every: time.Second, N: 100, SD: 0.2}, Retransmits: {Every: time.Second, Zeros: 50}})
	var b strings.Builder
	if err := page.Flush(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	row := func(label string) string {
		i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, label) })
		return strings.Join(strings.Fields(lines[max(0, i)]), " ")
	}
	if got := row("median round trip"); !strings.Contains(got, "20.0 % cannot decide ±") || !strings.Contains(lines[0], "windows of 5m0s") {
		t.Errorf("%q\n%s", got, b.String())
	}
	if got := row("sent again"); !strings.HasSuffix(got, "always 0") {
		t.Errorf("%q", got)
	}
	for v, want := range map[float64]string{0.04: "< ±0.10 %", 0.1: "±0.10 %", 12.34: "±12.3 %", math.NaN(): "cannot decide"} {
		if got := switchbackHalfWidth(v); got != want {
			t.Errorf("%g: %q, want %q", v, got, want)
		}
	}
}

// TestLookingIsFree: an unfinished live study shows no p, and its interval is valid whenever the
// study is stopped; a complete one is judged by its own test.
func TestLookingIsFree(t *testing.T) {
	s := switchbackParse(t, live)
	trials := played(s, 3, switchbackAt)
	i := slices.IndexFunc(trials, func(t Trial) bool { return t.Variant == "it" })
	whole := Analyse(s, 3, Environment{}, trials).Verdicts[0]
	trials[i].Valid = false
	open := Analyse(s, 3, Environment{}, trials).Verdicts[0]
	if !whole.P.Known() || open.P.Known() || open.PHolm.Known() || open.PEquivalent.Known() || !strings.Contains(open.Method, "at any time") {
		t.Errorf("whole %+v, open %+v", whole, open)
	}
}

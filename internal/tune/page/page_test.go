package page

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/tune"
	"linerate/internal/tune/space"
)

func entries() []space.Entry {
	return []space.Entry{
		{Name: "a", In: true, Levels: []space.Level{{Value: "1"}, {Value: "2"}}},
		{Name: "c", Why: "it is global to the kernel", Levels: []space.Level{{Value: "1"}}},
		{Name: "b", In: true, Levels: []space.Level{{Value: "on"}}},
	}
}

func judged(percent float64, verdict stats.Verdict) *tune.Judged {
	return &tune.Judged{Result: stats.Result{Effect: stats.Effect{EffectPercent: stats.Num(percent), CILow: stats.Num(percent - 1), CIHigh: stats.Num(percent + 1)}, Verdict: verdict}, Blocks: 12, Alpha: 0.03}
}

func modelOf(effects ...tune.Effect) tune.Model {
	return tune.Model{SE: 0.002, Simultaneous: 0.01, Effects: append([]tune.Effect{{Factor: 1, Level: 1, Effect: -0.001, Seen: 9}, {Factor: 0, Level: 1, Effect: 0.02, Active: 0.99, Expected: 0.019, Low: 0.015, High: 0.023, Seen: 9}}, effects...)}
}

// levels is model with the second level of a measured too; in refused and lacking that level was
// requested but not measured.
var (
	model   = modelOf(tune.Effect{Factor: 0, Level: 2})
	levels  = modelOf(tune.Effect{Factor: 0, Level: 2, Effect: math.Log(0.95), Active: 0.9, Seen: 4})
	refused = modelOf(tune.Effect{Factor: 0, Level: 2, Asked: 2})
	lacking = modelOf(tune.Effect{Factor: 0, Level: 2, Asked: 2, Lacking: "no module"})
)

// TestAnswers: the answer follows from the search's result, on the terminal and on the page.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		result      tune.Result
		want, never string
	}{
		{tune.Result{Complete: true, Model: model, Candidate: tune.Config{2, 1}, Confirmation: judged(4, stats.Better), Ships: tune.Config{2, 0}, ExpectedPercent: stats.Num(3.1), Trials: 90},
			"a=2: +3.1 % expected by the screening. With 1 setting that has hardly an effect alone and is left out: +4.0 % (+3.0 % to +5.0 %), confirmed on blocks of their own.", "Nothing"},
		{tune.Result{Complete: true, Model: model, SeenPercent: stats.Num(1), Trials: 60}, "Nothing helps: none of 2 settings looked promising. A single setting worth 1.0 % would have been seen. Nothing is known of 1 level that was not measured.", "confirmed on"},
		{tune.Result{Complete: true, Model: levels, SeenPercent: stats.Num(1), Trials: 60}, "A single setting worth 1.0 % would have been seen.", "Not measured"},
		{tune.Result{Complete: true, Model: model, Candidate: tune.Config{1, 0}, Confirmation: judged(4, stats.Better), Harm: []string{"loss_ratio in part new"}}, "is not shown to leave alone loss_ratio in part new", "confirmed on"},
		{tune.Result{Complete: true, Trials: 60, Invalid: map[string]int{"link": 40, "headroom": 20}}, "Nothing could be measured: 60 of 60 trials invalid, by link (40) and headroom (20).", "would have been seen"},
		{tune.Result{}, "The search is not at its end.", "confirmed on"},
	} {
		r := Report{Question: "Which?", Study: "early-demux", Role: "router", Metric: "forwarding_rate_pps", Space: entries(), Confirmation: 1, Alpha: 0.03, Result: c.result}
		r.Fill()
		if !strings.Contains(r.Answer, c.want) {
			t.Errorf("answer %q, want %q", r.Answer, c.want)
		}
		var page, terminal bytes.Buffer
		if err := r.HTML(&page); err != nil {
			t.Fatal(err)
		}
		if err := r.Terminal(&terminal, show.Style{Width: 200}); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(terminal.String()), " ")
		if !strings.Contains(text, c.want) || strings.Contains(text, c.never) {
			t.Errorf("terminal:\n%s\nwant %q, never %q", terminal.String(), c.want, c.never)
		}
		if !strings.Contains(page.String(), "it is global to the kernel") {
			t.Errorf("the page does not say what is outside the space")
		}
		if len(c.result.Model.Effects) > 0 && !strings.Contains(page.String(), "what became of it") {
			t.Errorf("the page has no table of the effects")
		}
	}
}

// TestLessIsBetter: a gain is stated as the change of the metric.
func TestLessIsBetter(t *testing.T) {
	m := model
	m.Effects = slices.Clone(m.Effects)
	m.Effects[1].Effect = math.Log(1.25)
	for metric, want := range map[string][2]string{"request_latency_mean_ns": {"a=1: latency, mean −20.0 % (−20.6 % to −19.4 %), confirmed", "−20.0 %"}, "forwarding_rate_pps": {"a=1: +25.0 % (+24.0 % to +26.0 %), confirmed", "+25.0 %"}} {
		r := Report{Metric: metric, Space: entries(), Result: tune.Result{Complete: true, Model: m, Candidate: tune.Config{1, 0}, Ships: tune.Config{1, 0}, Confirmation: judged(25, stats.Better)}}
		r.Fill()
		if got := r.effects(); !strings.Contains(r.Answer, want[0]) || got[0][1] != want[1] {
			t.Errorf("%s: %s, %q", metric, r.Answer, got)
		}
	}
}

// TestUntried: levels without a value are named, with the reason, on the terminal and on the page.
func TestUntried(t *testing.T) {
	for _, c := range []struct {
		result tune.Result
		want   string
	}{
		{tune.Result{Model: model}, "Not measured (no time was left for it): a=2."},
		{tune.Result{Model: refused, Ships: tune.Config{1, 0}, Candidate: tune.Config{1, 0}, Confirmation: judged(4, stats.Better)}, "Not measured (none of its trials was valid): a=2."},
		{tune.Result{Model: lacking}, "Not measured (no module): a=2."},
		{tune.Result{Model: levels}, ""},
		{tune.Result{Invalid: map[string]int{"link": 60}}, "Not measured (none of its trials was valid): a=1, a=2 and b=on."},
	} {
		c.result.Complete, c.result.SeenPercent = true, stats.Num(1)
		r := Report{Space: entries(), Result: c.result}
		r.Fill()
		var page, terminal bytes.Buffer
		if err := errors.Join(r.HTML(&page), r.Terminal(&terminal, show.Style{Width: 200})); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(terminal.String()), " ")
		if got := strings.Contains(text, "Not measured"); got != (c.want != "") || !strings.Contains(text, c.want) || got != strings.Contains(page.String(), ">Not measured</h2>") {
			t.Errorf("%q in\n%s", c.want, text)
		}
	}
}

// TestGuards: what the confirmation showed about other metrics applies to the candidate, not to a
// plan with fewer settings.
func TestGuards(t *testing.T) {
	const shown = "Every other metric of the study was shown to be no worse than by its margin."
	for _, c := range []struct {
		ships tune.Config
		harm  []string
		want  string
	}{
		{tune.Config{1, 1}, nil, shown},
		{tune.Config{1, 0}, nil, shown + " That is the effect of the candidate as a whole."},
		{nil, []string{"loss_ratio in part new"}, "Not shown to be no worse than by their margins: loss_ratio in part new."},
	} {
		r := Report{Metric: "forwarding_rate_pps", Result: tune.Result{Candidate: tune.Config{1, 1}, Confirmation: judged(4, stats.Better), Ships: c.ships, Harm: c.harm}}
		if got := r.guards(); got != c.want {
			t.Errorf("%v of %v: %s", c.ships, r.Result.Candidate, got)
		}
	}
}

// TestOrder: the largest effect comes first, with the outcome of each level.
func TestOrder(t *testing.T) {
	r := Report{Space: entries(), Result: tune.Result{Model: levels, Candidate: tune.Config{2, 0}}}
	got := r.effects()
	if first := strings.Join(got[0], "|"); len(got) != 3 || !strings.HasPrefix(first, "a=2|−5.0 %|") || !strings.HasSuffix(first, "|90 %|in the candidate") || got[1][4] != "" || got[2][0] != "b=on" {
		t.Errorf("%q", got)
	}
	if want := "+1.9\u00a0%\u00a0(+1.5\u00a0%\u00a0to\u00a0+2.3\u00a0%)"; got[1][2] != want {
		t.Errorf("adjusted %q, want %q", got[1][2], want)
	}
}

// TestOwnEffects: a line of the plan has its setting's own effect.
func TestOwnEffects(t *testing.T) {
	r := Report{Metric: "forwarding_rate_pps", Space: entries(), Result: tune.Result{Complete: true, Model: model, Candidate: tune.Config{1, 1}, Ships: tune.Config{1, 0}, Confirmation: judged(25, stats.Better)}}
	if got := r.Own(0); got != "+1.9 % (+1.5 % to +2.3 %) by the screening, less what selection adds" {
		t.Errorf("%q", got)
	}
	r.Result.Candidate, r.Metric = tune.Config{1, 0}, "request_latency_mean_ns"
	if got := r.Own(0); got != "−20.0 % (−20.6 % to −19.4 %), alone" {
		t.Errorf("%q", got)
	}
}

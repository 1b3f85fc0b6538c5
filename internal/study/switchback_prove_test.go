package study

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/stats"
)

var threeSettings = Question{Settings: []Setting{SysctlTo("net.ipv4.tcp_fin_timeout", "17"), SysctlTo("net.core.somaxconn", "9"), SysctlTo("net/ipv4/conf/eth0.100/RP_filter", "0")}}

// TestLeavingOutEach: the control has all settings, and each variant leaves out a different one.
func TestLeavingOutEach(t *testing.T) {
	q := threeSettings
	q.LeaveOut = true
	variants := q.variants()
	if len(variants) != 4 || variants[0].Name != "all" || len(variants[0].Settings) != 3 {
		t.Fatalf("%+v", variants)
	}
	for i, v := range variants[1:] {
		gone := threeSettings.Settings[i]
		if len(v.Settings) != 2 || slices.ContainsFunc(v.Settings, func(s Setting) bool { return s.TypedName() == gone.TypedName() }) || strings.Trim(v.Name, "abcdefghijklmnopqrstuvwxyz0123456789._-") != "" {
			t.Errorf("without %s: %+v", gone.TypedName(), v)
		}
	}
}

func TestWhatAPlanNeeds(t *testing.T) {
	r := Results{}
	for i, verdict := range []stats.Verdict{stats.Worse, stats.Equivalent, stats.Inconclusive} {
		v := Verdict{Primary: true, Variant: withoutName(i, threeSettings.Settings[i])}
		v.Verdict = verdict
		r.Verdicts = append(r.Verdicts, v)
	}
	got := strings.Join(threeSettings.Needed(r), "\n")
	for _, want := range []string{"tcp_fin_timeout=17  needed: worse", "somaxconn=9  not needed", "RP_filter=0  not known: inconclusive"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if r.IsBetter() || (Results{}).IsBetter() {
		t.Error("results without a better verdict count as better")
	}
	for i := range r.Verdicts {
		r.Verdicts[i].Verdict = stats.Better
	}
	if !r.IsBetter() {
		t.Error("results with a better verdict do not count as better")
	}
}

// TestSettingsAsTyped: sysctls and interface features are recognised, other texts are not.
func TestSettingsAsTyped(t *testing.T) {
	for text, want := range map[string]string{
		"net.core.somaxconn= 9": "net.core.somaxconn=9", "eth0.100:gro=on": "eth0.100:gro=on", "a=b=c": "a=b=c",
	} {
		s, ok := ParseSetting(text)
		if got := s.TypedName() + "=" + s.Value; !ok || got != want {
			t.Errorf("%q is parsed as %q, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "somaxconn", "=1", "ssh://www1", "a b=1"} {
		if s, ok := ParseSetting(text); ok {
			t.Errorf("%q is not a setting, but is parsed as %s", text, s.TypedName())
		}
	}
}

// TestInterruptsAreNotWatchedAlone: where a setting moves work from interrupts into threads or
// system calls, total kernel time is watched too.
func TestInterruptsAreNotWatchedAlone(t *testing.T) {
	for _, c := range [][2]string{
		{"softirq-per-packet", "softirq-per-packet cpu-per-packet"},
		{"cpu-per-packet softirq-per-packet", "cpu-per-packet softirq-per-packet"},
		{"drops", "drops"},
	} {
		d := Design{Terms: Terms{Watch: strings.Fields(c[0]), Window: 60, HarmPercent: 20}, Pairs: 12, Margin: 3, Metric: func(string) error { return nil }}
		s, err := Question{Settings: threeSettings.Settings[:1]}.Spec(&d)
		if err != nil {
			t.Fatal(err)
		}
		terms := s.Parts[0].Live
		if got := strings.Join(terms.Watch, " "); got != c[1] || len(s.Metrics) != len(terms.Watch) || s.Primary().Metric != MetricOf(terms.Watch[0], "") {
			t.Errorf("%s: watches %s, goals %+v", c[0], got, s.Metrics)
		}
	}
}

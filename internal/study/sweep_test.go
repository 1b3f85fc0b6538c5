package study_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/internal/setting"
	"linerate/internal/study"
)

const swept = `name: swept
question: What does a rule cost?
sweep:
  - {parameter: rules, label: rules in a row, values: [1, 10, 100], quick: [10]}
  - {parameter: flows, values: [1, 1000], quick: [1000]}
variants:
  - {name: none, at: {rules: 0}}
  - name: rules-$rules
    settings:
      - firewall: {linear: $rules}
  - name: optimised-$rules
    settings:
      - nft: |
          # $rules rules of $nobody
          table ip x { }
  - name: both
    settings:
      - {sysctl: a.b, value: 1}
parts:
  - {name: flows-$flows, flows: $flows, sizes: [64]}
metrics:
  - {metric: cost_ns_per_packet, part: flows-$flows}
  - {metric: forwarding_rate_pps, part: flows-1000, primary: true}
`

func names(s study.Spec) (variants, parts, metrics []string) {
	for _, v := range s.Variants {
		variants = append(variants, v.Name)
	}
	for _, p := range s.Parts {
		parts = append(parts, p.Name)
	}
	for _, g := range s.Metrics {
		metrics = append(metrics, g.Part)
	}
	return variants, parts, metrics
}

func TestSweepSpreads(t *testing.T) {
	s, err := study.Parse("s.yaml", []byte(swept))
	if err != nil {
		t.Fatal(err)
	}
	variants, parts, metrics := names(s)
	if diff := cmp.Diff([]string{"none", "rules-1", "rules-10", "rules-100", "optimised-1", "optimised-10", "optimised-100", "both"}, variants); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"flows-1", "flows-1000"}, parts); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"flows-1", "flows-1000", "flows-1000"}, metrics); diff != "" {
		t.Error(diff)
	}
	hundred, _ := s.Variant("rules-100")
	want := study.Variant{Name: "rules-100", At: study.Point{"rules": 100}, Curve: "rules", Settings: []study.Setting{{Firewall: &setting.Rules{Linear: 100}}}}
	if diff := cmp.Diff(want, hundred); diff != "" {
		t.Error(diff)
	}
	text, _ := s.Variant("optimised-10")
	if got := text.Apply()[0].Rules.Text; !strings.HasPrefix(got, "# 10 rules of $nobody\n") {
		t.Errorf("the text is %q", got)
	}
	if s.Parts[1].Flows != 1000 || s.Parts[1].At["flows"] != 1000 {
		t.Errorf("part %+v", s.Parts[1])
	}
	if got := hundred.Apply()[0]; got.Mechanism != setting.Firewall || got.Rules.Linear != 100 {
		t.Errorf("setting %+v", got)
	}
}

func TestSweptStudyIsWrittenAndReadBack(t *testing.T) {
	s, err := study.Parse("s.yaml", []byte(swept))
	if err != nil {
		t.Fatal(err)
	}
	data, err := study.Format(s)
	if err != nil {
		t.Fatal(err)
	}
	again, err := study.Parse("again.yaml", data)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	if diff := cmp.Diff(s, again); diff != "" {
		t.Error(diff)
	}
}

func TestQuickSweep(t *testing.T) {
	s, err := study.Parse("s.yaml", []byte(swept))
	if err != nil {
		t.Fatal(err)
	}
	variants, parts, metrics := names(s.Quick())
	if diff := cmp.Diff([]string{"none", "rules-10", "optimised-10", "both"}, variants); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"flows-1000"}, parts); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"flows-1000", "flows-1000"}, metrics); diff != "" {
		t.Error(diff)
	}
	if len(s.Variants) != 8 {
		t.Error("Quick modified the study itself")
	}
}

func TestSweepRefuses(t *testing.T) {
	many := strings.Repeat("1, ", 70)
	for _, c := range []struct{ name, old, new, want, hint string }{
		{"parameter", "parameter: rules", "parameter: Rules", `s.yaml:4: parameter "Rules" is not a name`, "$rules"},
		{"no values", "values: [1, 10, 100]", "values: []", "s.yaml:4: 0 values: a sweep has 1 to 64", ""},
		{"many values", "values: [1, 10, 100]", "values: [" + many + "2]", "s.yaml:4: 71 values", ""},
		{"negative", "values: [1, 10, 100]", "values: [-1, 10, 100]", "s.yaml:4: value -1 is not within", ""},
		{"nan", "values: [1, 10, 100]", "values: [.nan, 10, 100]", "s.yaml:4: value NaN is not within", ""},
		{"twice", "values: [1, 10, 100]", "values: [10, 10, 100]", "s.yaml:4: value 10 occurs twice", ""},
		{"quick", "quick: [10]", "quick: [11]", "s.yaml:4: quick value 11 is not one of the values", "choice"},
		{"same parameter", "parameter: flows", "parameter: rules", `s.yaml:5: two sweeps vary parameter "rules"`, ""},
		{"unswept", "linear: $rules", "linear: $ruls", "s.yaml:10: nothing sweeps $ruls", "parameter: ruls"},
		{"unknown key", "quick: [10]", "quik: [10]", `s.yaml:4: unknown key "quik"`, "quick"},
		{"beyond the setting's limit", "values: [1, 10, 100]", "values: [10, 1000000000]", "s.yaml:10: linear: 1000000000 is not within", ""},
		{"fraction", "values: [1, 10, 100]", "values: [1.5, 10]", "s.yaml:10: ", ""},
		{"place without sweep", "at: {rules: 0}", "at: {rule: 0}", `s.yaml:7: the study has no sweep of "rule"`, "add one"},
		{"primary", "part: flows-1000, primary", "part: flows-$flows, primary", "metrics are primary", ""},
		{"too many", "variants:\n  - {name: none, at: {rules: 0}}\n  - name: rules-$rules\n",
			"  - {parameter: c, values: [1, 2, 3, 4]}\n  - {parameter: d, values: [1, 2, 3, 4]}\nvariants:\n  - {name: none, at: {rules: 0}}\n  - name: rules-$rules-$flows-$c-$d\n", "the sweeps make more than 64 of these", "leave out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(swept, c.old, c.new, 1)
			refuses(t, text, c.want, c.hint)
		})
	}
}

func TestNewSettingsRefuse(t *testing.T) {
	for _, c := range []struct{ setting, want, hint string }{
		{"firewall: {}", "the firewall does nothing", "linear"},
		{"firewall: {linear: -1}", "linear: -1 is not within", ""},
		{"firewall: {table: 99999999}", "table: 99999999 is not within", ""},
		{"firewall: {linear: 1, by: iptables}", `by: unknown "iptables"`, "iptables-nft"},
		{"firewall: {table: 1, optimise: true}", "no linear rules to merge", ""},
		{"routes: {count: 0}", "count: 0 is not within", ""},
		{"routes: {count: 5, mix: fullish}", `mix: unknown "fullish"`, "full"},
		{"{hops: 1, over: gree}", `over: unknown "gree"`, "gre"},
		{"hops: 99", "hops: 99 is not within 1 and 16", ""},
		{"{firewall: {linear: 1}, over: gre}", "only hops settings have over", ""},
		{"forward: dpdk", `forward: unknown "dpdk"`, ""},
		{"policy_rules: 999999", "policy_rules: 999999 is not within", ""},
		{"{hops: 1, forward: xdp}", "exactly one of", ""},
	} {
		t.Run(c.setting, func(t *testing.T) {
			refuses(t, strings.Replace(small, "firewall: {linear: 1}", c.setting, 1), c.want, c.hint)
		})
	}
}

// TestGoalsOnce: a goal that both a sweep and the study list appears once, and is primary if either
// is.
func TestGoalsOnce(t *testing.T) {
	s, err := study.Parse("x.yaml", []byte(`name: x
question: Is a goal one?
sweep: [{parameter: flows, values: [1, 1000]}]
variants: [{name: a}, {name: b}]
parts: [{name: flows-$flows, flows: $flows}]
metrics:
  - {metric: cost_ns_per_packet, part: flows-$flows}
  - {metric: cost_ns_per_packet, part: flows-1000, primary: true, margin_percent: 2}
`))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Metrics) != 2 || !s.Metrics[1].Primary || s.Metrics[1].MarginPercent != 2 || s.Metrics[0].Part != "flows-1" {
		t.Errorf("%+v", s.Metrics)
	}
}

package study_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/internal/hint"
	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/testbed"
	"linerate/studies"
)

// small is a minimal study.
const small = `name: small
question: Does it matter?
variants:
  - name: none
  - name: one
    settings:
      - firewall: {linear: 1}
`

func TestParseFillsDefaults(t *testing.T) {
	s, err := study.Parse("small.yaml", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	if s.Control != "none" || s.Retries != study.DefaultRetries || !reflect.DeepEqual(s.Gates, study.DefaultGates()) || s.Workload.Flows != 1000 {
		t.Errorf("defaults are not filled in: %+v", s)
	}
	want := []study.Part{{Name: "cost", Mode: testbed.Cost, Rate: study.MaxRate, Directions: study.OneWay, Blocks: study.DefaultBlocks, Seconds: study.DefaultSeconds, Warmup: study.DefaultWarmup}}
	if diff := cmp.Diff(want, s.Parts); diff != "" {
		t.Error(diff)
	}
	if g := s.Primary(); g.Metric != study.CostNS || g.Part != "cost" {
		t.Errorf("primary %+v", g)
	}
}

// TestEveryPartHasVerdicts: a study that names no metrics gets all metrics of each part, and the
// first one is primary.
func TestEveryPartHasVerdicts(t *testing.T) {
	s, err := study.Parse("small.yaml", []byte(small+"parts: [{mode: cost}, {mode: overload}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]int{}
	for i, g := range s.Metrics {
		of[g.Part]++
		if g.Primary != (i == 0) {
			t.Errorf("%+v is primary", g)
		}
	}
	if of["cost"] == 0 || of["overload"] == 0 || s.Metrics[0].Part != "cost" {
		t.Errorf("verdicts by part: %v", of)
	}
}

func TestParseSettings(t *testing.T) {
	s, err := study.Parse("x.yaml", []byte(`name: x
question: q
variants:
  - name: a
  - name: b
    settings:
      - {sysctl: net.ipv4.ip_forward_use_pmtu, value: 1}
      - nft: |
          table ip f { }
      - {route: 240.0.0.0/8, via: blackhole}
      - {link: gro, device: egress, value: on}
      - {napi: threaded, device: ingress, value: 1}
      - command: [ethtool, -K, dut0, gro, on]
      - {sysctl: net.core.netdev_budget, value: 600, scope: host}
`))
	if err != nil {
		t.Fatal(err)
	}
	b, _ := s.Variant("b")
	want := []setting.Setting{
		{Mechanism: setting.Sysctl, Name: "net.ipv4.ip_forward_use_pmtu", Value: "1"},
		{Mechanism: setting.NFT, Rules: &setting.Rules{Text: "table ip f { }\n"}},
		{Mechanism: setting.Route, Name: "240.0.0.0/8", Value: "blackhole"},
		{Mechanism: setting.Link, Name: "gro", Device: "egress", Value: "on"},
		{Mechanism: setting.NAPI, Name: "threaded", Device: "ingress", Value: "1"},
		{Mechanism: setting.Command, Argv: []string{"ethtool", "-K", "dut0", "gro", "on"}},
		{Mechanism: setting.Sysctl, Name: "net.core.netdev_budget", Value: "600"},
	}
	if diff := cmp.Diff(want, b.Apply()); diff != "" {
		t.Error(diff)
	}
	if host := b.HostScope(); len(host) != 1 || host[0].Setting().Name != "net.core.netdev_budget" {
		t.Errorf("host scope %v", host)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ name, yaml, want, hint string }{
		{"unknown key", strings.Replace(small, "question:", "questoin:", 1), `s.yaml:2: unknown key "questoin"`, "did you mean question?"},
		{"unknown nested key", strings.Replace(small, "linear:", "linaer:", 1), `s.yaml:7: unknown key "linaer" in variants[1].settings[0].firewall`, "did you mean linear?"},
		{"not YAML", "name: [", "s.yaml:1: a list that [ begins has no ]", "close it with ]"},
		{"a list", "- a\n- b\n", "s.yaml:1: the study is not a list", "begin with a line, name: …"},
		{"empty", "", "s.yaml: the file is empty: a study is one YAML document", "begin with a line, name: …"},
		{"two documents", small + "---\n" + small, "s.yaml: 2 YAML documents: a study is one", "a separate file"},
		{"alias", "name: &a x\nquestion: *a\n", "s.yaml:1: anchors, aliases and tags", ""},
		{"wrong type", strings.Replace(small, "linear: 1", "linear: many", 1), `s.yaml:7: variants[1].settings[0].firewall.linear: "many" is not a number`, "without quotes"},
		{"scalar for list", "name: x\nquestion: q\nvariants: a\n", "s.yaml:3: variants needs a list", "write variants: [a]"},
		{"an elephant alone", small + "workload: {flows: 1, elephant: 0.5}\n", "s.yaml:8: elephant: 0.5 is not a share", "flows: 2 or more"},
		{"all frames an elephant's", small + "parts: [{elephant: 1}]\n", "s.yaml:8: elephant: 1 is not a share", "elephant: 0.5"},
		{"less than none", small + "parts: [{elephant: -0.5}]\n", "s.yaml:8: elephant: -0.5 is not a share", "elephant: 0.5"},
		{"no question", "name: x\nvariants: [{name: a}, {name: b}]\n", "s.yaml:1: study x asks no question", "question:"},
		{"bad name", strings.Replace(small, "name: small", "name: Small!", 1), `s.yaml:1: name "Small!" is not a name`, "write small"},
		{"one variant", "name: x\nquestion: q\nvariants: [{name: a}]\n", "s.yaml:3: 1 variant: a study compares 2 to 64", "control"},
		{"same name", "name: x\nquestion: q\nvariants:\n  - name: a\n  - name: a\n", `s.yaml:5: two variants are named "a"`, "a unique name"},
		{"reserved name", "name: x\nquestion: q\nvariants:\n  - name: a\n  - name: aa\n", `s.yaml:5: the name "aa" is taken`, ""},
		{"not an anchor's key", strings.Replace(small, "name: none", "&a name: none", 1), "anchors, aliases and tags", "without"},
		{"swept by a wrong name", strings.Replace(small, "name: one", "name: one-$rulse", 1) + "sweep: [{parameter: rules, values: [1]}]\n", "nothing sweeps $rulse", "did you mean rules?"},
		{"a sweep of nothing", small + "sweep: [{parameter: rules, values: [1, 2]}]\n", "s.yaml:8: sweep of nothing: no variant and no part has $rules", "write $rules where"},
		{"one name for all of a sweep", strings.Replace(small, "linear: 1", "linear: $rules", 1) + "sweep: [{parameter: rules, values: [1, 2]}]\n", `two variants are named "one"`, "write $rules into the name"},
		{"a look too late", small + "looks: {blocks: [9]}\n", "s.yaml:8: a look after 9 blocks is never reached: part cost has 6", "blocks: 9"},
		{"NAPI", strings.Replace(small, "firewall: {linear: 1}", "{napi: thraeded, value: on, device: ingress}", 1), `s.yaml:7: napi: unknown "thraeded"`, "did you mean threaded?"},
		{"a metric's part", small + "metrics: [{metric: cost_ns_per_packet, part: csot, primary: true}]\n", `names no part of the study: "csot"`, "did you mean cost?"},
		{"a truth", small + "interleave: perhaps\n", `s.yaml:8: interleave: "perhaps" is neither true nor false`, "true or false"},
		{"keys for a list", small + "parts: {name: a}\n", "s.yaml:8: parts takes no keys", "with a dash"},
		{"a value for keys", small + "workload: 64\n", "s.yaml:8: workload needs a mapping of keys", "KEY: VALUE"},
		{"a key twice", small + "name: again\n", "s.yaml:8: ", "keep one"},
		{"a tab", "name: x\n\tquestion: y\n", "s.yaml:2: a tab", "spaces"},
		{"indentation", "name: x\nquestion: y\n variants:\n  - name: a\n", "s.yaml:2: ", "indent"},
		{"braces", small + "sweep:\n  - {parameter: rules, values: [1]\n", "s.yaml:9: keys that { begin have no }", "close them"},
		{"quotes", "name: \"x\nquestion: y\n", "s.yaml:1: a text that", "close it"},
		{"no keys at all", "hello\n", "s.yaml:1: the study needs a mapping of keys", "name: …"},
		{"control", small + "control: noen\n", `s.yaml:8: control "noen" is not a variant`, "did you mean none?"},
		{"blocks", small + "blocks: 0\n", "s.yaml:8: blocks: 0 is not within 1 and 10000", ""},
		{"mode", small + "parts: [{mode: costs}]\n", `s.yaml:8: mode: unknown "costs"`, "did you mean cost?"},
		{"rate", small + "parts: [{mode: overload, rate: fast}]\n", `s.yaml:8: `, ""},
		{"cost has no rate", small + "parts:\n  - mode: cost\n    rate: 1Mpps\n", "s.yaml:10: mode cost has no offered load", "mode: overload"},
		{"size", small + "workload:\n  sizes: [64, 20]\n", "s.yaml:9: a frame of 20 bytes is not within 64 and 9216", ""},
		{"IPv6 size", small + "workload:\n  family: ipv6\n  sizes: [64]\n", "s.yaml:10: an IPv6 frame of 64 bytes has no room", "smallest is"},
		{"sizes and imix", small + "workload: {sizes: [64], imix: simple}\n", "s.yaml:8: sizes and imix exclude each other", "keep one"},
		{"directions", small + "workload: {directions: duplex}\n", `s.yaml:8: directions: unknown "duplex"`, ""},
		{"a part's directions", small + "parts: [{directions: bth}]\n", `s.yaml:8: directions: unknown "bth"`, "did you mean both?"},
		{"both directions of what one program forwards", strings.Replace(small, "firewall: {linear: 1}", "forward: xdp", 1) + "parts: [{directions: both}]\n", "s.yaml:8: variant ", "directions: one"},
		{"both directions in sequence", small + "interleave: false\nworkload: {directions: both}\n", "in mode cost both directions need arms that take turns", "interleave"},
		{"both directions and management", small + "parts: [{mode: overload, directions: both, management: true}]\n", "s.yaml:8: management and floods come from one side", ""},
		{"imix", small + "workload: {imix: 7a4d1g}\n", `s.yaml:8: imix: unknown "7a4d1g"`, "simple"},
		{"flows", small + "workload: {flows: 0}\n", "s.yaml:8: flows: 0 is not within 1 and 4194304", ""},
		{"metric", small + "metrics: [{metric: cost_ns_per_paket, primary: true}]\n", `s.yaml:8: unknown metric "cost_ns_per_paket"`, "did you mean cost_ns_per_packet"},
		{"metric without part", small + "metrics: [{metric: loss_ratio, primary: true}]\n", "s.yaml:8: loss_ratio needs a part of mode overload", ""},
		{"no primary", small + "metrics: [{metric: cost_ns_per_packet}]\n", "s.yaml:8: 0 metrics are primary", "primary: true"},
		{"points of no share", small + "metrics: [{metric: cost_ns_per_packet, primary: true, margin_points: 1}]\n", "s.yaml:8: cost_ns_per_packet is not a fraction", "write margin_percent"},
		{"margin", small + "metrics: [{metric: cost_ns_per_packet, primary: true, margin_percent: -1}]\n", "s.yaml:8: margin_percent: -1", ""},
		{"gate", small + "gates: {headroom: 0.5}\n", "s.yaml:8: headroom: 0.5 is not within 1 and 100", ""},
		{"testbed", small + "testbed: {kind: sshh}\n", `s.yaml:8: unknown testbed "sshh"`, "netns"},
		{"two mechanisms", strings.Replace(small, "- firewall: {linear: 1}", "- {firewall: {linear: 1}, sysctl: a.b}", 1), "s.yaml:7: a setting has exactly one of", ""},
		{"sysctl without value", strings.Replace(small, "firewall: {linear: 1}", "sysctl: a.b", 1), "s.yaml:7: the setting has no value", "value:"},
		{"route without next hop", strings.Replace(small, "firewall: {linear: 1}", "route: 240.0.0.0/8", 1), "s.yaml:7: the route has no next hop", "via:"},
		{"device", strings.Replace(small, "firewall: {linear: 1}", "{link: gro, value: on, device: eth0}", 1), `s.yaml:7: device: unknown "eth0"`, "ingress"},
		{"text and recipe", strings.Replace(small, "{linear: 1}", "{linear: 1, text: x}", 1), `s.yaml:7: unknown key "text" in variants[1].settings[0].firewall`, "known: by"},
		{"empty rules", strings.Replace(small, "{linear: 1}", "{linear: 0}", 1), "s.yaml:7: the firewall does nothing", ""},
		{"too many rules", strings.Replace(small, "linear: 1", "linear: 1000000000", 1), "s.yaml:7: linear: 1000000000 is not within", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			refuses(t, c.yaml, c.want, c.hint)
		})
	}
}

// refuses checks that a study in s.yaml is refused with the given error and hint.
func refuses(t *testing.T, yaml, want, advice string) {
	t.Helper()
	_, err := study.Parse("s.yaml", []byte(yaml))
	if err == nil {
		t.Fatal("accepted")
	}
	if !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "s.yaml") {
		t.Errorf("error %q, want s.yaml…%q…", err, want)
	}
	if !strings.Contains(hint.Of(err), advice) {
		t.Errorf("hint %q, want …%q…", hint.Of(err), advice)
	}
	if !hint.IsUsage(err) {
		t.Error("a mistake in a study is not reported as a usage error")
	}
}

func TestBuiltInStudies(t *testing.T) {
	names := studies.Names()
	if len(names) == 0 {
		t.Fatal("there are no built-in studies")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			data, err := studies.Read(name)
			if err != nil {
				t.Fatal(err)
			}
			s, err := study.Parse(name+".yaml", data)
			if err != nil {
				t.Fatal(err)
			}
			if s.Name != name {
				t.Errorf("study %s is in file %s.yaml", s.Name, name)
			}
			out, err := study.Format(s)
			if err != nil {
				t.Fatal(err)
			}
			again, err := study.Parse("again.yaml", out)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if diff := cmp.Diff(s, again); diff != "" {
				t.Errorf("writing the study and reading it back changed it:\n%s\n%s", diff, out)
			}
		})
	}
}

func TestQuickKeepsTheQuestion(t *testing.T) {
	data, err := studies.Read("demo")
	if err != nil {
		t.Fatal(err)
	}
	s, err := study.Parse("f.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	q := s.Quick()
	if diff := cmp.Diff(s.Variants, q.Variants); diff != "" {
		t.Error(diff)
	}
	for i, p := range q.Parts {
		if p.Blocks > s.Parts[i].Blocks || p.Seconds > s.Parts[i].Seconds || p.Blocks < 2 {
			t.Errorf("part %s: %d blocks of %g s, was %d of %g s", p.Name, p.Blocks, p.Seconds, s.Parts[i].Blocks, s.Parts[i].Seconds)
		}
	}
	if s.Parts[0].Blocks == q.Parts[0].Blocks {
		t.Error("the quick study has as many blocks as the full one")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	for _, name := range studies.Names() {
		data, err := studies.Read(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("name: &a [*a]"))
	f.Add([]byte("variants: [[[[{name: {"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := study.Parse("f.yaml", data)
		if err != nil {
			return
		}
		out, err := study.Format(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := study.Parse("g.yaml", out); err != nil {
			t.Errorf("a study that was accepted cannot be read back: %v\n%s", err, out)
		}
	})
}

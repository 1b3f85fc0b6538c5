package factexpr

import (
	"slices"
	"testing"
)

// TestQuestions takes expressions apart into what moves by itself and the rest.
func TestQuestions(t *testing.T) {
	type names struct {
		Host
		NIC   *NIC    `expr:"nic"`
		Count float64 `expr:"count" moves:"yes"`
	}
	l := NewLanguage[names]()
	for code, want := range map[string][]string{
		"":                           nil,
		"cpus > 2 && os == 'linux'":  nil,
		"count > 10 && uptime > 0.0": {"count > 10 && uptime > 0"},
		`running("x") != "2" && count > 1000 && (uptime == 0.0 || count > uptime / 60)`: {"count > 1000", "uptime == 0 || count > uptime / 60"},
		`pf && pf_states > 0.8 * memory`:                                                {"pf_states"},
		"nic.ether && nic.busiest_rate > 30000":                                         {"nic.busiest_rate > 30000"},
		`is_set("a") ? sum_of("softnet.*.dropped") : 0`:                                 {`sum_of("softnet.*.dropped")`},
	} {
		got, ok := l.Questions(code)
		if !ok || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", code, got, ok, want)
		}
	}
	for _, code := range []string{"any(nics, .busiest_rate > 3)", "nosuch", `count > 0 && counter(replace(os, "a", "b")) > 0`, "let x = uptime; cpus > 2 && x > 3"} {
		if got, ok := l.Questions(code); ok {
			t.Errorf("%s is taken apart into %q", code, got)
		}
	}
	if got, ok := l.TextQuestions("a ${cpus} b ${count * 2}"); !ok || !slices.Equal(got, []string{"count * 2"}) {
		t.Errorf("of a text: %q, %v", got, ok)
	}
}

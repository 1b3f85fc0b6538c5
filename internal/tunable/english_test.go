package tunable_test

import (
	"strings"
	"testing"

	"linerate/catalogue"
	"linerate/internal/tunable"
)

func TestCondition(t *testing.T) {
	for code, want := range map[string]string{
		"":                           "",
		"this > 500":                 "it is above 500",
		"this > 500 && !pf":          "it is above 500 and pf does not filter",
		"this > 0 && this < 4194304": "it is above 0 and below 4 Mi",
		"this == 0 || this == 1":     "it is 0 or 1",
		`this != 0 && role in ["router", "firewall"]`:       "it is not 0 and the role is router or firewall",
		`this == 1 && text("net.x") not in ["", "newreno"]`: "it is 1 and net.x is neither empty nor newreno",
		"memory > 0 && this > memory / 4":                   "it is above a quarter of memory",
		"at_least(12, 0) && !at_least(13, 1)":               "the release is 12.0 or newer and the release is older than 13.1",
		"this <= 8 * other":                                 "it is at most 8 × net.other",
		"this == 1 && ipfw_nat > 0":                         "it is 1 and there are ipfw's NAT instances",
		`forwarding && (driver("cc") || !module("x"))`:      "the host forwards and (a port's driver is cc or x is not loaded)",
		"number_at(this_text, 2) > 1048576":                 "its second number is above 1 Mi",
		"this >":                                            "this >",
	} {
		if got := tunable.Condition(code, "it", "net.other"); got != want {
			t.Errorf("%s:\n got %q\nwant %q", code, got, want)
		}
	}
}

func TestFormula(t *testing.T) {
	for code, want := range map[string]string{
		"min(max(div(memory, 16384), 100000), 4 * cpus)": "min(max(memory / 16,384, 100,000), 4 × CPUs)",
		"div(a - b, div(c, 2))":                          "(a - b) / (c / 2)",
		"vm ? 100 : 1000":                                "100 where in a virtual machine, else 1000",
		"vector(page, 131072, max(2, 3))":                "page size, 131,072, max(2, 3)",
		`value("net.fibs") * 2`:                          "net.fibs × 2",
	} {
		if got := tunable.FormulaWords(code); got != want {
			t.Errorf("%s:\n got %q\nwant %q", code, got, want)
		}
	}
}

// TestNoRawExpressions: no condition or formula of the catalogue reaches a
// reader as code.
func TestNoRawExpressions(t *testing.T) {
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	holds := func(name, code, words string) {
		if code == "" {
			return
		}
		seen++
		for _, raw := range []string{"&&", "||", "==", "!=", "this", "value(", "text(", "at_least", "%!", "[]"} {
			if strings.Contains(words, raw) {
				t.Errorf("%s: %s\n is %s", name, code, words)
			}
		}
	}
	for _, r := range c.Records {
		for _, x := range r.Cautions {
			holds(r.Name, x.When, tunable.Condition(x.When, "it", ""))
		}
		for _, x := range r.Coupled {
			holds(r.Name, x.Holds, tunable.Condition(x.Holds, "it", x.Name))
		}
		for _, x := range r.Recommend {
			holds(r.Name, x.When, tunable.Condition(x.When, "it", ""))
			holds(r.Name, x.Formula, tunable.FormulaWords(x.Formula))
		}
		holds(r.Name, r.Formula, tunable.FormulaWords(r.Formula))
	}
	if seen < 300 {
		t.Errorf("only %d expressions seen", seen)
	}
}

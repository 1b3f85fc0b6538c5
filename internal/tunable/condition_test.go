package tunable_test

import (
	"testing"

	"linerate/catalogue"
	"linerate/internal/tunable"
)

func TestWords(t *testing.T) {
	c := &tunable.Catalogue{Conditions: []tunable.Condition{{When: "this <= 8 * other", Says: "{this} is at most 8 × {other}"}}}
	for code, want := range map[string]string{
		"": "", "this <= 8 * other": "it is at most 8 × net.other", "this_text == other_text && thisbe": "it == net.other && thisbe",
	} {
		if got := c.Words(code, "it", "net.other"); got != want {
			t.Errorf("%s:\n got %q\nwant %q", code, got, want)
		}
	}
}

// TestConditionsHaveWords: no condition of the catalogue reaches a reader as code.
func TestConditionsHaveWords(t *testing.T) {
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	used, known := map[string]bool{"": true}, map[string]bool{"": true}
	for _, k := range c.Conditions {
		if known[k.When] || k.Says == "" {
			t.Errorf("conditions.yaml: %s is there twice, or says nothing", k.When)
		}
		known[k.When] = true
	}
	uses := func(record, code string) {
		used[code] = true
		if !known[code] {
			t.Errorf("%s: conditions.yaml has no words for %s", record, code)
		}
	}
	for _, r := range c.Records {
		for _, x := range r.Cautions {
			uses(r.Name, x.When)
		}
		for _, x := range r.Coupled {
			uses(r.Name, x.Holds)
		}
		for _, x := range r.Recommend {
			uses(r.Name, x.When)
		}
	}
	for code := range known {
		if !used[code] {
			t.Errorf("conditions.yaml: no record has the condition %s", code)
		}
	}
}

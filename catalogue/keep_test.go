package catalogue_test

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"linerate/catalogue"
	"linerate/internal/fact"
	"linerate/internal/setting"
	"linerate/internal/tunable"
)

const wordsFile = "../internal/fact/redact/words.txt"

// TestCapturesKnowTheCatalogue: package keep, which decides what captures may show, knows every name and every
// choice in the catalogue.
func TestCapturesKnowTheCatalogue(t *testing.T) {
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{}
	for _, system := range []string{fact.Linux, fact.FreeBSD} {
		for _, name := range c.Names(system) {
			if r, ok := c.Lookup(system, name); ok {
				wordsOf(r, func(set, word string) { words[set+" "+word] = true })
			}
		}
	}
	if flag.Lookup("update").Value.String() == "true" {
		var list []string
		for w := range words {
			list = append(list, w)
		}
		slices.Sort(list)
		if err := os.WriteFile(wordsFile, []byte(strings.Join(list, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(wordsFile)
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Split(string(text), "\n")
	for w := range words {
		if _, ok := slices.BinarySearch(known[:len(known)-1], w); !ok {
			t.Errorf("captures leave out the %s: go test ./catalogue -run TestCapturesKnow -update", w)
		}
	}
}

// choice matches a word that can be a setting's value.
var choice = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+.-]*$`)

// wordsOf returns the words with which lines set a tunable.
func wordsOf(r *tunable.Record, add func(set, word string)) {
	for _, values := range [][]string{r.Constraints.Values, defaults(r)} {
		for _, v := range values {
			for _, w := range strings.FieldsFunc(v, func(c rune) bool { return strings.ContainsRune(" ,\t\"", c) }) {
				if choice.MatchString(w) && len(w) <= 32 {
					add("word", w)
				}
			}
		}
	}
	if r.OS == fact.Linux && r.Module != "" {
		add("module", r.Module)
	}
	last := r.Name[strings.LastIndexAny(r.Name, " ./")+1:]
	switch r.Mechanism {
	case setting.Cmdline:
		add("boot", strings.TrimSuffix(strings.TrimPrefix(r.Name, "kernel: "), "="))
	case setting.Module:
		if param, ok := strings.CutSuffix(last, "="); ok && r.OS == fact.Linux {
			add("param", param)
		}
	case setting.RC:
		if !strings.Contains(r.Name, "IF") {
			add("rc", r.Name)
		}
	case setting.Systemd:
		add("systemd", strings.TrimSuffix(last, "="))
	case setting.Sysfs:
		if strings.HasPrefix(r.Name, "/sys/class/net/IF/") {
			add("attribute", last)
		}
	case setting.Ethtool:
		for _, w := range strings.Fields(r.Name)[1:] {
			if len(w) > 2 {
				add("word", w)
			}
		}
	}
}

func defaults(r *tunable.Record) []string {
	var all []string
	if r.Default != nil {
		all = append(all, *r.Default)
	}
	for _, rec := range r.Recommend {
		all = append(all, rec.Value)
	}
	for _, c := range r.Changes {
		if c.Default != nil {
			all = append(all, *c.Default)
		}
	}
	return all
}

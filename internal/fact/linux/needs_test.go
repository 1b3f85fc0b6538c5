package linux

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/fact/vocabulary"
	"linerate/internal/list"
)

// TestNeeds: testdata/needs.txt has for each row of needs.txt files that lack or contradict something, below "### ",
// and many have the nearest right ones, below "--- right".
func TestNeeds(t *testing.T) {
	rows, cases := readText(t, "../needs.txt"), strings.Split(readText(t, "testdata/needs.txt"), "### ")[1:]
	shown := map[string]bool{}
	said := func(joined string) (all []string) {
		texts := filesOf(joined)
		for _, p := range append(vocabulary.Lacking(texts), NetworkProblems(texts)...) {
			if p.Kind == fact.ProblemSlip && p.Line > 0 && strings.Contains(rows, "\t"+p.Message+"\t") || strings.Contains(rows, "="+p.Message+"\t") {
				all = append(all, p.Message+"\t"+p.Detail)
			}
		}
		return all
	}
	for _, c := range cases {
		name, body, _ := strings.Cut(c, "\n")
		wrong, right, _ := strings.Cut(body, "--- right\n")
		found := said(wrong)
		if len(found) == 0 {
			t.Errorf("%s: nothing is found", name)
		}
		for _, f := range found {
			shown[f] = true
		}
		if found := said(right); len(found) > 0 {
			t.Errorf("%s: false alarm: %q", name, found)
		}
	}
	for _, row := range list.Rows(rows) {
		says := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(strings.TrimPrefix(row[1], "=")+"\t"+strings.Join(row[5:], "\t")), "%k", `\S+`) + "$")
		known := false
		for s := range shown {
			known = known || says.MatchString(s)
		}
		if !known {
			t.Errorf("no files show the row %q of %s", row[2], row[0])
		}
	}
}

func readText(t *testing.T, name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

package audit

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"linerate/internal/sharedtest"
)

// TestStructuralWords: every finding that the audit makes itself has its text in the catalogue, and
// there is no text for a finding that no check makes.
func TestStructuralWords(t *testing.T) {
	set, err := LoadRules(sharedtest.Catalogue())
	if err != nil {
		t.Fatal(err)
	}
	data := map[string]bool{}
	for _, r := range set.Rules() {
		data[r.ID] = true
	}
	made := map[string]bool{}
	for _, kind := range []Kind{Harmful, Ineffective, Memory} { // from a record's cautions
		made["LR-"+strings.ToUpper(string(kind))] = true
	}
	ids := regexp.MustCompile(`"LR-[A-Z0-9]+(-[A-Z0-9]+)*`)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || name == "words.go" {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids.FindAllString(string(text), -1) {
			made[id[1:]] = true
		}
	}
	for id := range made {
		if structural[id] == "" && !data[id] {
			t.Errorf("%s has no text", id)
		}
	}
	for id := range structural {
		if !made[id] {
			t.Errorf("%s has a text, but no check makes this finding", id)
		}
	}
}

package yamlfile

import (
	"strings"
	"testing"

	"linerate/internal/hint"
)

// bombs are small texts that cost a parser without bounds minutes or gigabytes.
var bombs = map[string]string{
	"a billion laughs":       laughs() + "version: *i\n",
	"laughs under a version": "version: 1\n" + laughs(),
	"a merge of itself":      "free: &a\n  <<: *a\n  version: 1\n",
	"a version by merge":     "x: &x {version: 1}\n<<: *x\n",
	"brackets":               strings.Repeat("[", 100_000),
	"brackets line by line":  strings.Repeat("[\n", 100_000),
	"braces":                 strings.Repeat("{a: ", 100_000),
	"sequences in sequences": strings.Repeat("- ", 100_000),
	"keys of keys":           strings.Repeat("? ", 100_000),
	"mappings on one line":   strings.Repeat("a: ", 100_000),
	"tags":                   strings.Repeat("!!a ", 100_000),
	"anchors":                strings.Repeat("&a ", 100_000),
	"a blank block":          "names: |\n" + strings.Repeat(" \n", 100_000),
	"deep by indentation":    strings.Repeat(" ", 5000) + "a: 1\n",
	"more than the limit":    strings.Repeat("a: 1\n", maxBytes/4),
}

func laughs() string {
	text := "a: &a [x]\n"
	for c := 'b'; c <= 'i'; c++ {
		text += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 10) + "]\n"
	}
	return text
}

func TestBombsAreRefused(t *testing.T) {
	for name, text := range bombs {
		var v file
		if _, err := Read("f", []byte(text), Kind{Noun: "a thing", Content: "names", Version: 2}, &v); err == nil || !hint.IsUsage(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestShapeOfHonestFiles: prose with brackets, long lists and long lines are no bombs.
func TestShapeOfHonestFiles(t *testing.T) {
	for name, text := range map[string]string{
		"prose":      "names:\n" + strings.Repeat("  - \"in [0, 1) and ${x} - or not\"\n", 500),
		"a list":     "names: [" + strings.Repeat("a, ", 5000) + "b]\n",
		"a long one": "names: [" + strings.Repeat("a", 10_000) + "]\n",
	} {
		var v file
		if _, err := Read("f", []byte(text), Kind{Noun: "a thing", Version: 2}, &v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

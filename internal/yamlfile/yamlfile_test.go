package yamlfile

import (
	"strings"
	"testing"

	"linerate/internal/hint"
)

type file struct {
	Version int             `yaml:"version"`
	Names   []string        `yaml:"names"`
	Inner   struct{ A int } `yaml:"inner"`
	Free    map[string]int  `yaml:"free"`
}

func TestErrorsNameTheirLine(t *testing.T) {
	kind := Kind{Noun: "a thing", Content: "names", Version: 2}
	for text, want := range map[string]string{
		"version: 3\n":           "of version 3; this linerate reads up to version 2",
		"version: 0\n":           "version 0 of a thing does not exist",
		"nmes: [a]\n":            `f:1: unknown key "nmes"`,
		"version: 2\nnames: a\n": "f:2: names needs a list",
		"inner: 3\n":             "f:1: inner needs a mapping of keys",
		"names: {a: b}\n":        "f:1: names takes no keys",
		"names: [&x a, *x]\n":    "anchors, aliases and tags have no place in a thing",
		"":                       "the file is empty: a thing is one YAML document with names",
		"free: {x: y}\n":         `f:1: free.x: "y" is not a number`,
		"free: {x: true}\n":      `f:1: free.x: "true" is not a number`,
	} {
		var v file
		_, err := Read("f", []byte(text), kind, &v)
		if err == nil || !strings.Contains(err.Error(), want) || !hint.IsUsage(err) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	var v file
	p, err := Read("f", []byte("names: [a, b]\nfree: {x: 1}\n"), kind, &v)
	if err != nil || len(v.Names) != 2 || v.Free["x"] != 1 || !p.Has("names[1]") {
		t.Fatal(err, v)
	}
	if err := p.Error("free.y", "is wrong", "mend it"); err.Error() != "f:2: is wrong" || hint.Of(err) != "mend it" {
		t.Error(err)
	}
}

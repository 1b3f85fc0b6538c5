package yamlfile

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/ast"

	"linerate/internal/hint"
)

type thing struct {
	Version int            `yaml:"version"`
	Names   []string       `yaml:"names"`
	Inner   Part           `yaml:"inner"`
	Many    []Part         `yaml:"many"`
	Free    map[string]int `yaml:"free"`
	On      bool           `yaml:"on"`
	Rate    float64        `yaml:"rate"`
	Text    string         `yaml:"text"`
	Hidden  string         `yaml:"-"`
	Own     shapes         `yaml:"own"`
}

// Part is embedded, so it is exported.
type Part struct {
	A int `yaml:"a"`
}

// shapes has the keys of another struct.
type shapes struct {
	Part `yaml:",inline"`
}

var things = Kind{Noun: "a thing", Content: "names, and more", Version: 2}

// TestMistakes: what people get wrong in a file is told in words, at its line, with what to
// do about it.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ text, want, advice string }{
		{"rate: 1\nnames: [a\n", "f:2: a list that [ begins has no ]", "close it with ]"},
		{"names: [a, b\nrate: 1\n", "f:2: a list that [ begins has no ] or lacks a comma", "put commas between its entries"},
		{"inner: {a: 1\n", "f:1: keys that { begin have no }", "close them with }"},
		{"text: \"open\n", "f:1: a text that \" begins has no \" at its end", "omit the quotes"},
		{"text: 'open\n", "f:1: a text that ' begins has no ' at its end", "a single ' as two"},
		{"inner:\n\ta: 1\n", "f:2: a tab where YAML wants spaces", "indent by spaces"},
		{"on: true\ntext: a: b\n", "f:2: a key where none is allowed", "texts that contain a colon in quotes"},
		{"inner:\n  a: 1\n b: 2\n", "f:3: a value where none is allowed", "like its neighbours"},
		{"rate: 1\nrate: 2\n", "f:2: mapping key \"rate\" already defined", "keep one of them"},
		{"just text\n", "f:1: the thing needs a mapping of keys", "begin with a line, names: …"},
		{"- a\n", "f:1: the thing is not a list", "begin with a line, names: …"},
		{"names:\n  a: b\n", "f:2: names takes no keys", "begin each of its entries with a dash"},
		{"inner: [1]\n", "f:1: inner is not a list", "KEY: VALUE"},
		{"free: [1]\n", "f:1: free is not a list", "KEY: VALUE"},
		{"text: [a]\n", "f:1: text is not a list", "write one value"},
		{"text:\n  a: 1\n", "f:2: text takes no keys", "write one value"},
		{"many:\n  - a: 1\n  - b: 1\n", "f:3: unknown key \"b\" in many[1]", "did you mean a?"},
		{"own:\n  b: 1\n", "f:2: unknown key \"b\" in own", "did you mean a?"},
		{"Hidden: x\n", "f:1: unknown key \"Hidden\"", "known: free, inner"},
		{"on: yes\n", "f:1: on: \"yes\" is neither true nor false", "write true or false"},
		{"rate: fast\n", "f:1: rate: \"fast\" is not a number", "without quotes"},
		{"rate: |\n  fast\n", "f:1: rate:", "without quotes"},
		{"rate: true\n", "f:1: rate: \"true\" is not a number", "without quotes"},
		{"inner: {a: 1.5}\n", "f:1: inner.a: 1.5 is not a whole number", ""},
		{"names: a, b\n", "f:1: names needs a list", "write names: [a, b]"},
		{"many: [{a: 1}, 5]\n", "f:1: many[1] needs a mapping of keys", "KEY: VALUE"},
		{"rate: 1\n---\nrate: 2\n", "f: 2 YAML documents: a thing is one", "remove the lines of three dashes"},
		{"# nothing\n", "f: the file is empty", "begin with a line, names: …"},
		{"names: !!x [a]\n", "anchors, aliases and tags have no place in a thing", "write it out"},
		{"version: 3\nno: 1\n", "f: the thing is of version 3", "read it with that one"},
		{"version: 0\nno: 1\n", "f: version 0 of a thing does not exist", ""},
	} {
		var v thing
		p, err := Read("f", []byte(c.text), things, &v)
		if err == nil || p != nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(hint.Of(err), c.advice) || (c.advice == "") != (hint.Of(err) == "") || !hint.IsUsage(err) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v; hint: %s\nwant %s; %s", c.text, err, hint.Of(err), c.want, c.advice)
		}
	}
	if err := syntaxError("f", errors.New("odd\nmore")); err.Error() != "f: odd" || hint.Of(err) != elsewhere {
		t.Errorf("an error without a place: %v; %s", err, hint.Of(err))
	}
}

// TestWhatIsTaken: other ways to write the same, which are no mistakes.
func TestWhatIsTaken(t *testing.T) {
	for text, want := range map[string]thing{
		"rate: 1e+06\n": {Rate: 1e6}, "rate: \"5\"\n": {Rate: 5}, "rate: 5\n": {Rate: 5}, "on:\n": {}, "on: true\n": {On: true}, "text: |\n  a\n  b\non: true\n": {Text: "a\nb\n", On: true}, "version: 2\n": {Version: 2}, "version: 1\n": {Version: 1},
		"inner: {a: 1}\n": {Inner: Part{1}}, "own:\n  a: 4\n": {Own: shapes{Part{4}}}, "many:\n- a: 1\n- {a: 2}\n": {Many: []Part{{1}, {2}}}, "text: \"${x}\"\n": {Text: "${x}"}, "free: {}\n": {Free: map[string]int{}},
	} {
		var v thing
		if _, err := Read("f", []byte(text), things, &v); err != nil || !reflect.DeepEqual(v, want) {
			t.Errorf("%q: %+v, %v, want %+v", text, v, err, want)
		}
	}
}

// TestPlacesOfKeys: what is found wrong later is told at the line of its key, or of the
// nearest one above it, and the first mistake stands.
func TestPlacesOfKeys(t *testing.T) {
	read := func() *Places {
		var v thing
		p, err := Read("f", []byte("rate: 1\nmany:\n  - a: 1\n  - a: 2\n\ninner:\n  a: 3\n"), things, &v)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for path, want := range map[string]string{"rate": "f:1: wrong", "many": "f:2: wrong", "many[1].a": "f:4: wrong", "many[1].b": "f:4: wrong", "many[7].b": "f:2: wrong", "inner.a.b.c": "f:7: wrong", "nosuch": "f:1: wrong", "nosuch.a": "f:1: wrong", "": "f:1: wrong"} {
		p := read()
		if p.Failed() {
			t.Fatal("a good file failed")
		}
		if err := p.Error(path, "wrong", ""); err.Error() != want || hint.Of(err) != "" || !p.Failed() {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
		p.Refuse(9, "advice", "a second mistake")
		if err := p.Error(path, "a third", ""); err.Error() != want {
			t.Errorf("%s: %v is told instead of the first", path, err)
		}
	}
	p := read()
	if p.Refuse(9, "advice", "of %d", 5); !p.Failed() || !p.Has("many[0].a") || p.Has("many[2]") || p.Has("on") {
		t.Error("a refusal, or a key, is not there")
	}
}

// TestRewrite: what a file's kind changes is checked again, as it then is, and a file that
// is wrong is not changed at all.
func TestRewrite(t *testing.T) {
	called := 0
	kind := things
	kind.Rewrite = func(p *Places, root ast.Node) {
		called++
		for _, v := range root.(*ast.MappingNode).Values {
			if v.Key.GetToken().Value == "rate" && v.Value.GetToken().Value == "refuse" {
				p.Refuse(v.GetToken().Position.Line, "mend it", "refused")
			}
		}
	}
	var v thing
	if _, err := Read("f", []byte("rate: 5\non: true\n"), kind, &v); err != nil || called != 1 || v.Rate != 5 {
		t.Errorf("%v, called %d times", err, called)
	}
	if _, err := Read("f", []byte("on: true\nrate: refuse\n"), kind, &v); err == nil || err.Error() != "f:2: refused" || hint.Of(err) != "mend it" {
		t.Errorf("%v", err)
	}
	if _, err := Read("f", []byte("on: true\nrate: fast\n"), kind, &v); err == nil || !strings.Contains(err.Error(), "is not a number") {
		t.Errorf("a value that nothing replaced: %v", err)
	}
	called = 0
	if _, err := Read("f", []byte("no: true\nrate: 5\n"), kind, &v); err == nil || called != 0 {
		t.Errorf("%v, called %d times", err, called)
	}
}

// TestShapeAtItsBounds: what is refused just beyond a bound is taken at it, with the line.
func TestShapeAtItsBounds(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		line string // of the refusal, "" where it is taken
	}{
		"the longest":          {strings.Repeat("a", maxBytes), ""},
		"a longer one":         {strings.Repeat("a", maxBytes+1), "bytes is too long"},
		"brackets":             {strings.Repeat("[\n", maxDepth), ""},
		"one bracket more":     {"x\n" + strings.Repeat("[\n", maxDepth+1), "f:1002:"},
		"closed again":         {strings.Repeat("[ { } ]\n", 2*maxDepth), ""},
		"closed too often":     {strings.Repeat("]\n", 10) + strings.Repeat("[\n", maxDepth), ""},
		"indentation":          {strings.Repeat(" ", maxDepth) + "a\n", ""},
		"a column more":        {strings.Repeat(" ", maxDepth+1) + "a\n", "f:1:"},
		"sequences":            {strings.Repeat("- ", maxNested) + "\n", ""},
		"one sequence more":    {strings.Repeat("- ", maxNested+1) + "\n", "f:1:"},
		"keys on a line":       {strings.Repeat("abc: ", maxNested+1) + "\n", "f:1:"},
		"words on a line":      {strings.Repeat("abc ", 10*maxNested) + "\n", ""},
		"blank lines":          {strings.Repeat("\n", maxBlank), ""},
		"one blank line more":  {"x\n" + strings.Repeat("\n", maxBlank+1), "f:1002:"},
		"blank lines in parts": {strings.Repeat(strings.Repeat("\n", maxBlank)+"x\n", 3), ""},
	} {
		err := CheckShape("f", things, []byte(c.text))
		if c.line == "" && err != nil || c.line != "" && (err == nil || !strings.Contains(err.Error(), c.line)) {
			t.Errorf("%s: %v, want %q", name, err, c.line)
		}
	}
	small := things
	if small.Most = 5; CheckShape("f", small, []byte("12345")) != nil || CheckShape("f", small, []byte("123456")) == nil {
		t.Error("a kind's own bound does not hold")
	}
}

package main

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

type kindOfThing string

type textual struct{ n int }

func (t textual) MarshalText() ([]byte, error)  { return []byte{byte(t.n)}, nil }
func (t *textual) UnmarshalText(b []byte) error { t.n = len(b); return nil }

type plain struct {
	Kind   kindOfThing   `yaml:"kind"`
	Rate   float64       `yaml:"rate"`
	Count  uint          `yaml:"count,omitempty"`
	Names  []string      `yaml:"names"`
	Metric string        `yaml:"metric"`
	Lots   []string      `yaml:"lots"`
	When   time.Time     `yaml:"when"`
	Text   textual       `yaml:"text"`
	Sub    *sub          `yaml:"sub"`
	On     bool          `yaml:"on"`
	Wide   time.Duration `yaml:"-"`
	Bare   string
	hidden string //nolint:unused // unexported, so not a member
}

type sub struct {
	A     int `yaml:"a"`
	Inner `yaml:",inline"`
}

// Inner is a part of others.
type Inner struct {
	B int `yaml:"b"`
}

// joined reads itself from the keys of another struct.
type joined struct{}

func (joined) Shape() reflect.Type { return reflect.TypeFor[Inner]() }

func definition(t *testing.T, m schemaMaker, of reflect.Type, name string) (string, *schemaNode) {
	t.Helper()
	n, err := m.Of("urn:x", "a title", of)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(n.Definitions[name])
	if err != nil {
		t.Fatal(err)
	}
	return string(text), n
}

// TestFile: the schema of a file allows references until the file is read, choices and unquoted
// texts, and has no member for fields without a key.
func TestFile(t *testing.T) {
	m := schemaMaker{Tag: "yaml", Closed: true, Reference: `^\$`,
		Constants: func(of reflect.Type) []string {
			if of == reflect.TypeFor[kindOfThing]() {
				return []string{"a", "b"}
			}
			return nil
		},
		Words:    map[string][]string{"linerate.plain.Metric": {"x", "y"}, "linerate.plain.Lots": {"p"}},
		Required: map[string][]string{"linerate.plain": {"kind"}},
		Comment: func(of reflect.Type, field string) string {
			return map[string]string{"plain": "A plain thing.", "plainRate": "How fast.", "plainSub": "Its part."}[of.Name()+field]
		},
	}
	got, root := definition(t, m, reflect.TypeFor[plain](), "linerate.plain")
	ref := func(node string) string { return `{"anyOf":[` + node + `,{"type":"string","pattern":"^\\$"}]}` }
	want := `{"description":"A plain thing.","type":"object","properties":{` +
		`"kind":` + ref(`{"enum":["a","b"]}`) + `,` +
		`"rate":{"description":"How fast.",` + ref(`{"type":"number"}`)[1:] + `,` +
		`"count":` + ref(`{"type":"integer","minimum":0}`) + `,` +
		`"names":{"type":"array","items":{"type":["string","number","boolean"]}},` +
		`"metric":` + ref(`{"enum":["x","y"]}`) + `,` +
		`"lots":{"type":"array","items":` + ref(`{"enum":["p"]}`) + `},` +
		`"when":{"type":"string","format":"date-time"},` +
		`"text":{"type":["string","number","boolean"]},` +
		`"sub":{"description":"Its part.","allOf":[{"$ref":"#/definitions/linerate.sub"}]},` +
		`"on":{"type":"boolean"}},` +
		`"required":["kind"],"additionalProperties":false}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if text, err := json.Marshal(root.Definitions["linerate.sub"]); err != nil || string(text) != `{"type":"object","properties":{"a":`+ref(`{"type":"integer"}`)+`,"b":`+ref(`{"type":"integer"}`)+`},"additionalProperties":false}` {
		t.Errorf("%s, %v", text, err)
	}
	if root.Schema != Draft || root.ID != "urn:x" || root.Title != "a title" || len(root.AllOf) != 1 || root.AllOf[0].Ref != "#/definitions/linerate.plain" {
		t.Errorf("%+v", root)
	}
	text, err := root.Text()
	if err != nil || !strings.HasPrefix(string(text), "{\n \"$schema\"") || strings.Contains(string(text), `\u003c`) {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestShapesAndKin: a type that reads itself has the members of its shape, with the comments of
// its kin; an open schema allows further members.
func TestShapesAndKin(t *testing.T) {
	m := schemaMaker{Tag: "yaml", Kin: map[reflect.Type][]reflect.Type{reflect.TypeFor[joined](): {reflect.TypeFor[sub]()}},
		Comment: func(of reflect.Type, field string) string {
			return map[string]string{"sub.B": "Of its kin."}[of.Name()+"."+field]
		}}
	got, _ := definition(t, m, reflect.TypeFor[joined](), "linerate.joined")
	if want := `{"type":"object","properties":{"b":{"description":"Of its kin.","type":"integer"}}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	n, err := (&schemaMaker{Tag: "yaml"}).Of("urn:x", "x", reflect.TypeFor[sub](), reflect.TypeFor[Inner]())
	if err != nil || len(n.AnyOf) != 2 || n.AllOf != nil {
		t.Errorf("a schema of two types: %+v, %v", n, err)
	}
	known := schemaMaker{Tag: "yaml", Known: map[reflect.Type]*schemaNode{reflect.TypeFor[textual](): {Type: "string", Pattern: "^x"}}}
	if got, _ := definition(t, known, reflect.TypeFor[plain](), "linerate.plain"); !strings.Contains(got, `"text":{"type":"string","pattern":"^x"}`) {
		t.Errorf("a type in Known: %s", got)
	}
}

// TestDocumentsOfOddTypes: bytes are base64, a TextMarshaler is a string, a pointer may be null,
// and members with omitempty are not required.
func TestDocumentsOfOddTypes(t *testing.T) {
	type odd struct {
		Bytes []byte          `json:"bytes"`
		Text  textual         `json:"text"`
		Raw   json.RawMessage `json:"raw,omitempty"`
		Zero  int             `json:"zero,omitzero"`
		Fixed [3]int          `json:"fixed"`
		Gone  int             `json:"-"`
		Named int
	}
	got, _ := definition(t, schemaMaker{Tag: "json"}, reflect.TypeFor[odd](), "linerate.odd")
	want := `{"type":"object","properties":{"bytes":{"type":"string"},"text":{"type":"string"},"raw":{},"zero":{"type":"integer"},"fixed":{"type":"array","items":{"type":"integer"}},"Named":{"type":"integer"}},"required":["bytes","text","fixed","Named"]}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestCommentsOfBrokenSources: test files, other packages, files that do not parse and untyped
// constants add nothing.
func TestCommentsOfBrokenSources(t *testing.T) {
	c := schemaComments{Module: "linerate", Sources: fstest.MapFS{
		"cmd/linerate/a.go":      {Data: []byte("package main\n// Inner is told.\ntype (\n\tInner struct{}\n)\nconst Untyped = \"no\"\nconst Number kindOfThing = 5\nconst A, B kindOfThing = \"x\", \"y\"\nconst C kindOfThing = \"c\"\nconst D kindOfThing = \"c\"\n")},
		"cmd/linerate/a_test.go": {Data: []byte("package main\n// Inner is of a test.\ntype Inner struct{}\nconst E kindOfThing = \"of a test\"\n")},
		"cmd/linerate/broken.go": {Data: []byte("package main\n}{")},
	}}
	if got := c.Of(reflect.TypeFor[Inner](), ""); got != "Inner is told." {
		t.Errorf("%q", got)
	}
	if got := c.Constants(reflect.TypeFor[kindOfThing]()); !reflect.DeepEqual(got, []string{"c"}) {
		t.Errorf("%q", got)
	}
	if got := c.Of(reflect.TypeFor[time.Time](), ""); got != "" {
		t.Errorf("a type of another module has the comment %q", got)
	}
}

package main

import (
	"encoding/json"
	"reflect"
	"testing"
	"testing/fstest"
)

type inner struct {
	Name string `json:"name"`
	Kept int    `json:"kept"`
}

type outer struct {
	inner
	Name  *string           `json:"name"` // hides inner's Name
	List  []inner           `json:"list"`
	Maybe uint              `json:"maybe,omitempty"`
	Words map[string]string `json:"words,omitempty"`
	Again *outer            `json:"again,omitempty"`
	Other any               `json:"other"`
}

// TestDocument: the schema of a type allows what encoding/json writes of it.
func TestDocument(t *testing.T) {
	m := schemaMaker{Tag: "json", Closed: true}
	n, err := m.Of("urn:x", "x", reflect.TypeFor[outer]())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(n.Definitions["linerate.outer"])
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"object","properties":{` +
		`"kept":{"type":"integer"},` +
		`"name":{"anyOf":[{"type":"string"},{"type":"null"}]},` +
		`"list":{"type":["array","null"],"items":{"$ref":"#/definitions/linerate.inner"}},` +
		`"maybe":{"type":"integer","minimum":0},` +
		`"words":{"type":"object","additionalProperties":{"type":"string"}},` +
		`"again":{"anyOf":[{"$ref":"#/definitions/linerate.outer"},{"type":"null"}]},` +
		`"other":{}},` +
		`"required":["kept","name","list","other"],"additionalProperties":false}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

// TestComments: comments above and behind a field, and constants of a string type, are found.
func TestComments(t *testing.T) {
	c := schemaComments{Module: "linerate", Sources: fstest.MapFS{"cmd/linerate/x.go": {Data: []byte(`package main
// inner is in.
type inner struct {
	// Name is
	// what it is called.
	Name string
	Kept int // how many
}
type word string
const (
	One word = "one"
	Two word = "two"
)`)}}}
	t1 := reflect.TypeFor[inner]()
	if a, b, d := c.Of(t1, ""), c.Of(t1, "Name"), c.Of(t1, "Kept"); a != "inner is in." || b != "Name is what it is called." || d != "how many" {
		t.Errorf("%q %q %q", a, b, d)
	}
	type word string
	if got := c.Constants(reflect.TypeFor[word]()); !reflect.DeepEqual(got, []string{"one", "two"}) {
		t.Errorf("%q", got)
	}
}

// TestNoSchema: a type that JSON cannot represent is an error.
func TestNoSchema(t *testing.T) {
	type pipe struct {
		C chan int `json:"c"`
	}
	if _, err := (&schemaMaker{Tag: "json"}).Of("urn:x", "x", reflect.TypeFor[pipe]()); err == nil {
		t.Error("a channel has a schema")
	}
}

package pack

import (
	"bytes"
	"reflect"
	"testing"

	"linerate/internal/fact/release"
)

type node struct {
	Name  string
	Text  *string
	Kids  []*node
	Words map[string]string
	Since release.Release
	Left  string `cbor:"-"`
}

// TestRoundTrip: nil, empty and zero stay apart, and maps give the same bytes each time.
func TestRoundTrip(t *testing.T) {
	want := node{Name: "top", Kids: []*node{{Text: new(string)}, nil, {Kids: []*node{}}}, Words: map[string]string{"a": "", "b": "c", "d": "e"}, Since: release.MustParse("14.3")}
	b, err := Marshal(want)
	got, ok := Open[node](b)
	if err != nil || !ok || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v, %v", got, ok, err)
	}
	for range 20 {
		got.Left = "left out"
		if again, err := Marshal(got); err != nil || !bytes.Equal(again, b) {
			t.Fatalf("other bytes of an equal value: %v", err)
		}
	}
}

// TestOtherBytes: what is of another type, cut or longer is not read.
func TestOtherBytes(t *testing.T) {
	b, err := Marshal(node{Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := Open[struct{ Title string }](b); ok {
		t.Error("opened as a type without its fields")
	}
	for name, bad := range map[string][]byte{"nothing": nil, "cut": b[:len(b)-1], "more": append(bytes.Clone(b), 0)} {
		if _, ok := Open[node](bad); ok {
			t.Errorf("%s opens", name)
		}
	}
	if _, err := Marshal(make(chan int)); err == nil {
		t.Error("a channel is packed")
	}
}

// TestMap: a map comes back whole, and damaged data gives none.
func TestMap(t *testing.T) {
	body, err := Marshal(map[string]string{"a": "b"})
	if err != nil {
		t.Fatal(err)
	}
	packed, err := Compress(body)
	if err != nil || Map[string](packed)()["a"] != "b" {
		t.Errorf("%v, %v", Map[string](packed)(), err)
	}
	if got := Map[string](packed[:len(packed)/2])(); len(got) != 0 {
		t.Errorf("half of it: %v", got)
	}
}

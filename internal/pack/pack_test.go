package pack

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/internal/fact/release"
)

type word string

type node struct {
	Name     word
	N        int
	Small    int8
	U        uint32
	F        float64
	On       bool
	Text     *string
	Kids     []*node
	Words    []string
	Meaning  map[string]string
	With     map[string]any
	Since    release.Release
	Anything any
	hidden   int
}

func sample() node {
	text := "a text"
	rel, _ := release.Parse("14.3")
	return node{
		Name: "top", N: -7, Small: -128, U: 1 << 31, F: 0.25, On: true, Text: &text,
		Kids:  []*node{{Name: "kid", Words: []string{}}, nil, {Text: new(string)}},
		Words: []string{"a text", "", "x"}, Meaning: map[string]string{"a": "b", "": ""},
		With:  map[string]any{"i": 3, "u": uint64(1 << 63), "f": 1.5, "t": "x", "b": false, "n": nil, "l": []any{1, "y"}, "m": map[string]any{"z": 2.5}},
		Since: rel, Anything: []any{true},
	}
}

func TestRoundTrip(t *testing.T) {
	want := sample()
	b, err := Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got node
	if err := Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(node{}, release.Release{})); diff != "" {
		t.Error(diff)
	}
	again, err := Marshal(got)
	if err != nil || string(again) != string(b) {
		t.Errorf("not the same bytes twice: %v", err)
	}
}

// TestCutAndBent: every part of good bytes, and every byte changed, is an
// error or a value, never a panic.
func TestCutAndBent(t *testing.T) {
	b, err := Marshal(sample())
	if err != nil {
		t.Fatal(err)
	}
	for i := range b {
		if err := Unmarshal(b[:i], new(node)); err == nil {
			t.Errorf("the first %d of %d bytes pass", i, len(b))
		}
		for _, x := range []byte{0, 1, 0x7f, 0x80, 0xff} {
			bent := append([]byte(nil), b...)
			bent[i] = x
			_ = Unmarshal(bent, new(node))
		}
	}
	for _, huge := range []string{"\xff\xff\xff\xff\xff\xff\x7f", "\x01\xff\xff\xff\xff\x7f", "\x00\xff\xff\xff\xff\x7f", "\x00\x01\x07\xff\xff\xff\xff\x7f"} {
		if err := Unmarshal([]byte(huge), new(node)); err == nil {
			t.Errorf("%q passes", huge)
		}
	}
	if err := Unmarshal(append(b, 0), new(node)); err == nil {
		t.Error("a byte too many passes")
	}
	if Unmarshal(b, node{}) == nil || Unmarshal(b, nil) == nil {
		t.Error("not into a pointer")
	}
}

func TestRefuses(t *testing.T) {
	for _, v := range []any{make(chan int), map[int]string{}, struct{ F func() }{func() {}}, struct{ A any }{[]int{1}}, complex(1, 2), node{hidden: 1}} {
		if _, err := Marshal(v); err == nil {
			t.Errorf("%T passes", v)
		}
	}
}

func TestFingerprint(t *testing.T) {
	base := Fingerprint(reflect.TypeFor[struct{ A, B string }]())
	for name, other := range map[string]reflect.Type{
		"order": reflect.TypeFor[struct{ B, A string }](), "kind": reflect.TypeFor[struct {
			A string
			B int
		}](), "more": reflect.TypeFor[struct{ A, B, C string }](), "deeper": reflect.TypeFor[struct {
			A string
			B []string
		}](),
	} {
		if Fingerprint(other) == base {
			t.Errorf("another %s has the same fingerprint", name)
		}
	}
}

func FuzzUnmarshal(f *testing.F) {
	b, err := Marshal(sample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(_ *testing.T, b []byte) { _ = Unmarshal(b, new(node)) })
}

package pack

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/internal/fact/release"
)

type word string

type node struct {
	Name    word
	N       int
	Small   int8
	U       uint32
	F       float64
	On      bool
	Text    *string
	Kids    []*node
	Words   []string
	Meaning map[string]string
	Since   release.Release
	Left    string `pack:"-"`
	hidden  int
}

func sample() node {
	text := "a text"
	rel, _ := release.Parse("14.3")
	return node{
		Name: "top", N: -7, Small: -128, U: 1 << 31, F: 0.25, On: true, Text: &text,
		Kids:  []*node{{Name: "kid", Words: []string{}}, nil, {Text: new(string)}},
		Words: []string{"a text", "", "x"}, Meaning: map[string]string{"a": "b", "": ""},
		Since: rel,
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
	want.Left = "for the tests alone"
	if left, err := Marshal(want); err != nil || string(left) != string(b) {
		t.Errorf("a field with the tag is packed: %v", err)
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
	for _, v := range []any{make(chan int), map[int]string{}, struct{ F func() }{func() {}}, struct{ A any }{1}, complex(1, 2), node{hidden: 1}} {
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

// TestSealed: what was sealed opens as the same type, and as no other.
func TestSealed(t *testing.T) {
	type one struct{ A, B string }
	type other struct{ B, A string }
	b, err := Seal(one{"x", "y"})
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := Open[one](b); !ok || v != (one{"x", "y"}) {
		t.Errorf("%+v, %v", v, ok)
	}
	if v, ok := Open[other](b); ok {
		t.Errorf("opened as another type: %+v", v)
	}
	for name, bad := range map[string][]byte{"nothing": nil, "the fingerprint alone": b[:8], "cut": b[:len(b)-1], "more": append(b[:len(b):len(b)], 0)} {
		if v, ok := Open[one](bad); ok {
			t.Errorf("%s opens: %+v", name, v)
		}
	}
	if _, err := Seal(func() {}); err == nil {
		t.Error("a function is sealed")
	}
}

// TestSameBytes: maps in any order give the same bytes, a text that comes again takes no
// place, and nil is told from empty.
func TestSameBytes(t *testing.T) {
	m := map[string]string{}
	for _, k := range []string{"d", "a", "c", "b", "e", "f", "g", "h"} {
		m[k] = k
	}
	first, err := Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		again := map[string]string{}
		for k, v := range m {
			again[k] = v
		}
		if b, _ := Marshal(again); string(b) != string(first) {
			t.Fatalf("%q and %q", first, b)
		}
	}
	long := strings.Repeat("x", 1000)
	once, _ := Marshal([]string{long})
	ten, _ := Marshal([]string{long, long, long, long, long, long, long, long, long, long})
	if len(ten) > len(once)+20 {
		t.Errorf("a text takes %d bytes, ten of it %d", len(once), len(ten))
	}
	type lists struct {
		S []string
		M map[string]string
		P *int
		B []bool
	}
	for name, want := range map[string]lists{"nil": {}, "empty": {S: []string{}, M: map[string]string{}, P: new(int), B: []bool{false, true}}} {
		b, err := Marshal([]lists{want, want})
		var got []lists
		if err != nil || Unmarshal(b, &got) != nil || !reflect.DeepEqual(got, []lists{want, want}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	var kept node // of a value that is not zero nothing is left out, in fields that stay as they are
	b, _ := Marshal(node{Name: "x"})
	kept.N = 5
	if err := Unmarshal(b, &kept); err != nil || kept.Name != "x" || kept.N != 5 {
		t.Errorf("%+v, %v", kept, err)
	}
}

// TestDepthIsBounded: what nests deeper than anything real is an error, at any place.
func TestDepthIsBounded(t *testing.T) {
	kid := &node{Name: "deepest"}
	for range 3 * maxDepth {
		kid = &node{Kids: []*node{kid}}
	}
	b, err := Marshal(kid)
	if err != nil {
		t.Fatal(err)
	}
	if err := Unmarshal(b, new(node)); err == nil {
		t.Error("a chain of nodes without end passes")
	}
}

// TestFingerprintsOfLists: what a pointer, list or map holds is a part of the shape, and a
// type that holds itself has one.
func TestFingerprintsOfLists(t *testing.T) {
	type a struct{ X []struct{ Y int } }
	type b struct{ X []struct{ Z int } }
	seen := map[uint64]string{}
	for name, of := range map[string]reflect.Type{
		"ints": reflect.TypeFor[[]int](), "texts": reflect.TypeFor[[]string](), "pointer": reflect.TypeFor[*int](), "to text": reflect.TypeFor[*string](), "map": reflect.TypeFor[map[string]int](), "map of texts": reflect.TypeFor[map[string]string](),
		"inner Y": reflect.TypeFor[struct{ V []struct{ Y int } }](), "inner Z": reflect.TypeFor[struct{ V []struct{ Z int } }](), "itself": reflect.TypeFor[node](), "a release": reflect.TypeFor[release.Release](), "a": reflect.TypeFor[a](), "b": reflect.TypeFor[b](),
	} {
		f := Fingerprint(of)
		if other, ok := seen[f]; ok {
			t.Errorf("%s has the fingerprint of %s", name, other)
		}
		seen[f] = name
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

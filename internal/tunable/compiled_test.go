package tunable

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"linerate/internal/fact/release"
)

const packable = `
subsystem: test
records:
  - {name: net.t.old, mechanism: sysctl, type: int, settable: runtime, removed: 14.0, renamed_to: net.t.new, default: "0", summary: Old., sources: [t.c]}
  - {name: net.t.new, mechanism: sysctl, type: int, settable: runtime, since: "12.0", default: "5", summary: New., sources: [t.c],
     constraints: {min: 1, max: 9.5, values: ["1"], meaning: {"1": one}}, changes: [{from: 15.0, default: "", exists: false, why: test}],
     cautions: [{kind: harmful, when: this == 7, text: Seven., vectors: [{with: {this: 7, drivers: [ix]}, want: "true"}]}]}
  - {name: "dev.{driver}.N.x", drivers: [ix, igb@13.1], instances: [], mechanism: sysctl, type: int, settable: runtime, formula: memory / 2, summary: Of a driver., sources: [t.c], vectors: [{with: {memory: 4}, want: "2"}]}
`

// TestCompiled: what is packed comes back whole; what is of other files, of
// another shape, of a former format, or broken, is ignored.
func TestCompiled(t *testing.T) {
	c, err := Read(fstest.MapFS{
		"freebsd/test.yaml": {Data: []byte(packable)},
		"claims/test.yaml":  {Data: []byte("source: x\nos: freebsd\ntitle: T\nclaims: [{name: net.t.new, value: \"7\", says: More., at: here, verdict: wrong, truth: Less.}]")},
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Compile("abc", []byte("the rules"), nil, []byte("advice"))
	if err != nil {
		t.Fatal(err)
	}
	got, beside, ok := Unpack(b, "abc")
	if !ok || len(beside) != 3 || string(beside[0]) != "the rules" || len(beside[1]) != 0 || string(beside[2]) != "advice" {
		t.Fatalf("%v, beside it %q", ok, beside)
	}
	for i, r := range c.Records {
		x, y := *r, *got.Records[i]
		// Worked examples are not packed.
		x.Vectors, x.Cautions, y.Vectors, y.Cautions = nil, nil, nil, nil
		if !reflect.DeepEqual(x, y) {
			t.Errorf("%+v\nwant\n%+v", y, x)
		}
	}
	r, found := got.Lookup(FreeBSD, "dev.igb.3.x")
	if !found || r.Since != release.MustParse("13.1") || len(got.Records) != len(c.Records) {
		t.Errorf("%+v, %v", r, found)
	}
	if n, _ := got.Lookup(FreeBSD, "net.t.new"); len(got.ClaimsOn(n)) != 1 || len(n.Cautions) != 1 || n.Cautions[0].When != "this == 7" {
		t.Errorf("claims %v, cautions %+v", got.ClaimsOn(n), n.Cautions)
	}
	for name, other := range map[string][]byte{"other files": b, "the former format": {0x1f, 0x8b, 8}, "nothing": nil} {
		digest := "abc"
		if name == "other files" {
			digest = "abd"
		}
		if _, _, ok := Unpack(other, digest); ok {
			t.Errorf("%s passes", name)
		}
	}
	for _, n := range []int{len(b) - 1, len(b) - 20, bytes.IndexByte(b, '\n') + 1} {
		if _, _, ok := Unpack(b[:n], "abc"); ok {
			t.Errorf("%d of %d bytes pass", n, len(b))
		}
	}
}

// TestDigest: any file that is packed, changed, moved or added, makes what
// was packed stale.
func TestDigest(t *testing.T) {
	files := func() fstest.MapFS {
		return fstest.MapFS{"freebsd/a.yaml": {Data: []byte("a")}, "linux/a.yaml": {Data: []byte("b")}, "claims/a.yaml": {Data: []byte("c")}, "concepts.yaml": {Data: []byte("d")}, "rules/a.yaml": {Data: []byte("e")}, "plans/a.yaml": {Data: []byte("f")}}
	}
	base, err := Digest(files())
	if err != nil {
		t.Fatal(err)
	}
	for name := range files() {
		changed, more := files(), files()
		changed[name] = &fstest.MapFile{Data: []byte("x")}
		more[strings.Replace(name, ".yaml", "2.yaml", 1)] = &fstest.MapFile{Data: []byte("a")}
		for what, fsys := range map[string]fstest.MapFS{"changed": changed, "added": more} {
			if d, err := Digest(fsys); err != nil || (d == base) != (what == "added" && name == "concepts.yaml") {
				t.Errorf("%s %s: %s, %v", name, what, d, err)
			}
		}
	}
}

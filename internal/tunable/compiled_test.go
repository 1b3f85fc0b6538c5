package tunable

import (
	"reflect"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"

	"linerate/internal/fact/release"
	"linerate/internal/pack"
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

// TestCompiled: what is packed is unpacked unchanged; data of another form or damaged data are
// rejected.
func TestCompiled(t *testing.T) {
	c, err := Read(fstest.MapFS{
		"freebsd/test.yaml": {Data: []byte(packable)},
		"claims/test.yaml":  {Data: []byte("source: x\nos: freebsd\ntitle: T\nclaims: [{name: net.t.new, value: \"7\", says: More., at: here, verdict: wrong, truth: Less.}]")},
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Compile(c, []byte("the rules"), nil, []byte("advice"))
	if err != nil {
		t.Fatal(err)
	}
	got, beside, err := Unpack(b)
	if err != nil || len(beside) != 3 || string(beside[0]) != "the rules" || len(beside[1]) != 0 || string(beside[2]) != "advice" {
		t.Fatalf("%v, beside it %q", err, beside)
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
	rules, err := pack.Marshal([]string{"of another shape"})
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{
		"the last byte is missing": b[:len(b)-1], "cut": b[:len(b)-20], "nothing": nil, "gzip": {0x1f, 0x8b, 8}, "not compressed": rules,
		"another shape": compress(t, rules),
	} {
		if _, _, err := Unpack(bad); err == nil {
			t.Errorf("%s: passes", name)
		}
	}
}

func compress(t *testing.T, b []byte) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	return z.EncodeAll(b, nil)
}

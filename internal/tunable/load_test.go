package tunable_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"linerate/internal/sharedtest"

	"linerate/internal/tunable"
)

// TestBuiltin reads the built-in catalogue: schema, references, expressions
// and vectors.
func TestBuiltin(t *testing.T) {
	c, err := tunable.Load(sharedtest.Catalogue())
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Records) == 0 {
		t.Fatal("no records")
	}
}

const good = `
  - name: net.x
    mechanism: sysctl
    type: int
    settable: runtime
    default: 5
    summary: s
    sources: [a.c]
`

// TestMistakes: each error in a file is reported with its file and line.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ name, change, with, want string }{
		{"unknown key", "type: int", "tpye: int", `freebsd/x.yaml:5: unknown field "tpye"`},
		{"bad settable", "settable: runtime", "settable: sometimes", `freebsd/x.yaml:3: net.x: settable "sometimes" is none of`},
		{"no summary", "summary: s", "summary: ''", "net.x: no summary"},
		{"no sources", "sources: [a.c]", "sources: []", "net.x: no sources"},
		{"default of the wrong type", "default: 5", "default: five", `default "five": "five" is not a number`},
		{"bad release", "summary: s", "since: newest\n    summary: s", `freebsd/x.yaml:8: release "newest"`},
		{"removed before it came", "summary: s", "since: 14.0\n    removed: 13.0\n    summary: s", "removed in 13.0, but there only since 14.0"},
		{"formula without a vector", "default: 5", "formula: memory / 2", "a formula without a vector"},
		{"formula that does not compile", "default: 5", "formula: memorry / 2", "unknown name memorry"},
		{"formula that is wrong", "default: 5", "formula: memory / 2\n    vectors: [{with: {memory: 10}, want: 6}]", "is 5, want 6"},
		{"unknown relation", "summary: s", "related: [net.y]\n    summary: s", "mentions net.y, which has no record"},
		{"unknown concept", "summary: s", "concept: y\n    summary: s", `concept "y" is not in concepts.yaml`},
		{"duplicate", "sources: [a.c]", "sources: [a.c]" + good, "net.x: already at freebsd/x.yaml:3"},
		{"broken YAML", "summary: s", "summary: [", "freebsd/x.yaml:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "subsystem: x\nrecords:" + strings.Replace(good, c.change, c.with, 1)
			_, err := tunable.Load(fstest.MapFS{"freebsd/x.yaml": {Data: []byte(text)}})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in\n%s", err, c.want, text)
			}
		})
	}
	if _, err := tunable.Load(fstest.MapFS{"freebsd/x.yaml": {Data: []byte("subsystem: x\nrecords:" + good)}}); err != nil {
		t.Errorf("the unchanged file: %v", err)
	}
}

package profile

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
)

// fuzz seeds a target with a file and holds the parser to: an error, or a
// profile that can be written every way.
func fuzz(f *testing.F, file string, parse func([]byte) ([]*Profile, error)) {
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		found, err := parse(data)
		if err != nil {
			return
		}
		for _, p := range found {
			checkWritten(t, p)
		}
	})
}

func checkWritten(t *testing.T, p *Profile) {
	t.Helper()
	if p.Total() < 0 {
		t.Fatal("a negative total")
	}
	if len(p.Stacks) == 0 {
		return
	}
	if err := p.WritePprof(io.Discard); err != nil {
		t.Fatal(err)
	}
	p.Flame("")
}

func ofText(parse func(string) ([]*Profile, error)) func([]byte) ([]*Profile, error) {
	return func(data []byte) ([]*Profile, error) { return parse(string(data)) }
}

func FuzzPmcGraph(f *testing.F) { fuzz(f, "two-cpus.graph", ofText(parsePmcGraph)) }
func FuzzDtrace(f *testing.F)   { fuzz(f, "kernel.dtrace", ofText(parseDtrace)) }
func FuzzPerf(f *testing.F)     { fuzz(f, "router.perf", ofText(parsePerfScript)) }
func FuzzFolded(f *testing.F)   { fuzz(f, "before.folded", ofText(parseFolded)) }

func FuzzPprof(f *testing.F) {
	found, err := parseFolded("a;b 3\na 1\n")
	if err != nil {
		f.Fatal(err)
	}
	var b bytes.Buffer
	if err := found[0].WritePprof(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		if found, err := Read(bytes.NewReader(data)); err == nil {
			checkWritten(t, found[0])
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("a;b 3\n")
	f.Add("@ E [9 samples]\n\n100.0%  [9] a @ b\n")
	f.Fuzz(func(t *testing.T, text string) {
		if found, err := Read(strings.NewReader(text)); err == nil && len(found[0].Stacks) == 0 {
			t.Fatal("a profile without stacks")
		}
	})
}

package calc

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/expr-lang/expr"

	"linerate/internal/hint"
)

// TestVectors runs every worked example of every calculator.
func TestVectors(t *testing.T) {
	for _, c := range All() {
		if len(c.Vectors) == 0 || len(c.Sources) == 0 || c.Summary == "" {
			t.Errorf("%s: needs a summary, sources and at least one vector", c.Name)
		}
		for _, v := range c.Vectors {
			r, err := c.Run(v.In)
			if err != nil {
				t.Errorf("%s %v: %v", c.Name, v.In, err)
				continue
			}
			for name, want := range v.Want {
				got := math.NaN()
				for _, o := range r.Outputs {
					if o.Name == name {
						got = o.Value
					}
				}
				if tol := max(v.Tolerance, 1e-9); !(math.Abs(got-want) <= tol*math.Abs(want)) {
					t.Errorf("%s %v: %s = %v, want %v (%s)", c.Name, v.In, name, got, want, v.From)
				}
			}
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range All() {
		for _, n := range append([]string{c.Name}, c.Aliases...) {
			if seen[n] {
				t.Errorf("name %q is taken twice", n)
			}
			seen[n] = true
		}
		for _, n := range c.Notes {
			if n.Wrong && n.Truth == "" {
				t.Errorf("%s: note on %q says wrong and not what is right", c.Name, n.Says)
			}
		}
	}
	if _, err := Find("line-rat"); !hint.IsUsage(err) || hint.Of(err) == "" {
		t.Errorf("Find of a typo = %v, hint %q; want a usage error with a hint", err, hint.Of(err))
	}
	if c, err := Find("wscale"); err != nil || c.Name != "window" {
		t.Errorf("Find by alias = %v, %v", c, err)
	}
}

func TestRunRefuses(t *testing.T) {
	c, _ := Find("bdp")
	for _, args := range []map[string]string{
		{"link": "fast"}, {"link": "10ms"}, {"rtt": "10MB"}, {"rrt": "1ms"}, {"link": ""}, {"rtt": "0"}, {"link": "1e999"},
	} {
		if _, err := c.Run(args); len(args) > 0 && args["link"] != "" && err == nil {
			t.Errorf("bdp %v: no error", args)
		}
	}
	if _, err := c.Run(map[string]string{"rtt": "0"}); err == nil {
		t.Error("rtt 0 makes an infinite rate and was accepted")
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		in   string
		unit Unit
		want float64
	}{
		{"10G", BitsPerSecond, 1e10}, {"10 Gb/s", BitsPerSecond, 1e10}, {"10Gbit/s", BitsPerSecond, 1e10},
		{"25GbE", BitsPerSecond, 25e9}, {"1.25GB/s", BitsPerSecond, 1e10}, {"100Mbps", BitsPerSecond, 1e8},
		{"64K", Bytes, 65536}, {"64kB", Bytes, 64000}, {"64KiB", Bytes, 65536}, {"16M", Bytes, 16 << 20}, {"1500", Bytes, 1500},
		{"13ms", Seconds, 0.013}, {"2us", Seconds, 2e-6}, {"2µs", Seconds, 2e-6}, {"3 s", Seconds, 3}, {"1min", Seconds, 60},
		{"1.488Mpps", PacketsPerSecond, 1.488e6}, {"25%", Percent, 25}, {"-1", Count, -1}, {"1e6", Count, 1e6}, {"1_000", Count, 1000},
	} {
		got, err := Parse(c.in, c.unit)
		if err != nil || math.Abs(got-c.want) > 1e-9*math.Abs(c.want) {
			t.Errorf("Parse(%q, %s) = %v, %v; want %v", c.in, c.unit, got, err, c.want)
		}
	}
	for _, in := range []string{"", "G", "10X", "10ms", "1.2.3G", "--1", "NaN", "Inf", "0x10"} {
		if v, err := Parse(in, BitsPerSecond); !hint.IsUsage(err) {
			t.Errorf("Parse(%q) = %v, %v; want a usage error", in, v, err)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit Unit
		want string
	}{
		{16777216, Bytes, "16777216 B (16 MiB)"}, {512, Bytes, "512 B"}, {1e10, BitsPerSecond, "10 Gb/s"},
		{0.0134, Seconds, "13.4 ms"}, {6.72e-8, Seconds, "67.2 ns"}, {1488095.238, PacketsPerSecond, "1.4881 Mpps"},
		{94.1482, Percent, "94.15 %"}, {14, Count, "14"}, {-0.0001, Count, "0"}, {0, Seconds, "0 s"}, {6.1e6, PerSecond, "6.1 M/s"},
	} {
		if got := Format(c.v, c.unit); got != c.want {
			t.Errorf("Format(%v, %s) = %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}

// TestFunctions evaluates formulas as catalogue records write them.
func TestFunctions(t *testing.T) {
	env := map[string]any{"mem": uint64(2073186304), "ncpu": 12, "text": "2097152"}
	for src, want := range map[string]float64{
		// What a FreeBSD 14.0-STABLE of 2 GiB (page count 519536, kmem 2073186304) reports.
		"nmbclusters(max_mbuf_mem(mem))":          126537,
		"maxusers(519536)":                        462,
		"maxfiles(519536)":                        64942,
		"tcbhashsize(64942)":                      16384,
		"netisr_threads(-1, ncpu)":                12,
		"pow2(100000)":                            131072,
		"bdp(10e9, 0.1) > 1e8 ? 2 : 3":            2,
		"int(pf_state_memory(100000, 131072))":    100000*440 + 131072*80,
		"dirty_max(68719476736, 4294967296)":      4294967296,
		"conntrack_memory(262144, 262144)":        69206016,
		"line_rate(1000000000, 64) > 1.488e6?1:0": 1,
	} {
		p, err := expr.Compile(src, append(Options(), expr.Env(env))...)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		out, err := expr.Run(p, env)
		if got, ferr := toFloat(out); err != nil || ferr != nil || got != want {
			t.Errorf("%s = %v, %v; want %v", src, out, err, want)
		}
	}
	for _, f := range functions() {
		if _, err := f.call(); err == nil {
			t.Errorf("%s without arguments is no error", f.name)
		}
	}
	if p, err := expr.Compile(`wscale("many")`, Options()...); err != nil {
		t.Error(err)
	} else if _, err := expr.Run(p, nil); err == nil {
		t.Error("wscale of a word is no error")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"10G", "64K", "13ms", "1e6", "", "-", "1e", "9µs", "1_0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, u := range []Unit{BitsPerSecond, Bytes, Seconds, Count, Percent, PacketsPerSecond, BytesPerSecond} {
			if v, err := Parse(s, u); err == nil && math.IsNaN(v) {
				t.Errorf("Parse(%q, %s) is NaN", s, u)
			} else if err == nil && Format(v, u) == "" {
				t.Errorf("Format(%v, %s) is empty", v, u)
			}
		}
	})
}

// TestFunctionsAreDocumented keeps docs/reference/calc.md in step.
func TestFunctionsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/calc.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range functions() {
		want := fmt.Sprintf("| `%s(%s)` | %s |", d.name, strings.Join(d.args, ", "), d.doc)
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/reference/calc.md lacks the line\n%s", want)
		}
	}
	for _, c := range All() {
		if !strings.Contains(string(page), "| `"+c.Name+"` |") {
			t.Errorf("docs/reference/calc.md lacks calculator %s", c.Name)
		}
	}
}

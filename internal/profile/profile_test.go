package profile

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/internal/sharedtest"
)

func read(t testing.TB, name string) []*Profile {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	found, err := Read(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return found
}

func folded(t testing.TB, p *Profile) string {
	t.Helper()
	var lines []string
	for _, s := range p.Stacks {
		var names []string
		for _, f := range s.Frames {
			names = append(names, f.Name)
		}
		lines = append(lines, fmt.Sprint(strings.Join(names, ";"), " ", s.Value))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func TestFormats(t *testing.T) {
	for _, test := range []struct {
		file, format, event, unit string
		samples                   int64
		stacks                    []string
	}{
		// 60 samples of pf_test: 54 + 3 by callers, 3 without one.
		{"two-cpus.graph", "pmcstat callgraph", "CPU_CLK_UNHALTED", "samples", 118,
			[]string{"fork_exit;cpu_idle 58", "fork_exit;ip_input;pf_check_in;pf_test 54", "ip_output;pf_check_out;pf_test 3", "pf_test 3"}},
		{"kernel.dtrace", "dtrace stacks", "", "samples", 98,
			[]string{"0xffffffff810a0f3e;fork_exit;sched_idletd;cpu_idle 38", "fork_exit;ip_input;pf_test 60"}},
		{"router.perf", "perf script", "cpu-clock:ppp", "nanoseconds", 3,
			[]string{"ksoftirqd/1;ip_forward;nf_hook_slow;nft_do_chain 500000", "my prog;[unknown] 500000"}},
		{"before.folded", "folded stacks", "", "samples", 100,
			[]string{"fork_exit;cpu_idle 30", "fork_exit;swi_net;ip_input;ip_forward 50", "fork_exit;swi_net;ip_input;ip_forward;fib4_lookup 20"}},
	} {
		t.Run(test.file, func(t *testing.T) {
			p := read(t, test.file)[0]
			got := []any{p.Format, p.Event, p.Unit, p.Samples}
			if diff := cmp.Diff([]any{test.format, test.event, test.unit, test.samples}, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.stacks, strings.Split(folded(t, p), "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSeveralEvents(t *testing.T) {
	graph := read(t, "two-cpus.graph")
	if len(graph) != 2 || graph[1].Event != "DC_MISSES" || graph[1].Total() != 5 {
		t.Errorf("events of the graph: %+v", graph)
	}
	if want := "118 of the 120 samples"; len(graph[0].Notes) != 1 || !strings.Contains(graph[0].Notes[0], want) {
		t.Errorf("notes %q, want one of %q", graph[0].Notes, want)
	}
	if perf := read(t, "router.perf"); len(perf) != 2 || folded(t, perf[1]) != "swapper;default_idle 1" || perf[1].Unit != "cycles" {
		t.Errorf("events of perf: %+v", perf)
	}
}

func TestModules(t *testing.T) {
	got := map[string]string{}
	for _, file := range []string{"two-cpus.graph", "kernel.dtrace", "router.perf"} {
		for _, f := range read(t, file)[0].Functions() {
			got[file+" "+f.Name] = f.Module
		}
	}
	for name, want := range map[string]string{"two-cpus.graph pf_check_in": "pf.ko", "two-cpus.graph fork_exit": "kernel",
		"kernel.dtrace pf_test": "pf.ko", "router.perf nft_do_chain": "[nf_tables]", "router.perf ksoftirqd/1": ""} {
		if got[name] != want {
			t.Errorf("%s is in %q, want %q", name, got[name], want)
		}
	}
	if f := frameOf("tcp_v4_rcv_[k]"); f != (Frame{"tcp_v4_rcv", "[kernel]"}) {
		t.Errorf("annotated frame: %+v", f)
	}
}

// TestPprofRoundTrip: what is written reads back alike, compressed or not.
func TestPprofRoundTrip(t *testing.T) {
	for _, file := range []string{"two-cpus.graph", "router.perf", "before.folded"} {
		p := read(t, file)[0]
		var b bytes.Buffer
		if err := p.WritePprof(&b); err != nil {
			t.Fatal(err)
		}
		back, err := Read(&b)
		if err != nil {
			t.Fatal(err)
		}
		if back[0].Unit != p.Unit || len(back) != 1 {
			t.Errorf("%s: unit %q, want %q", file, back[0].Unit, p.Unit)
		}
		if diff := cmp.Diff(p.Stacks, back[0].Stacks); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
}

func TestFunctionsCountRecursionOnce(t *testing.T) {
	b := NewBuilder("", "samples", "")
	for _, s := range []string{"a;b;a;b", "a;b"} {
		var frames []Frame
		for n := range strings.SplitSeq(s, ";") {
			frames = append(frames, Frame{Name: n})
		}
		if err := b.Add(frames, 5); err != nil {
			t.Fatal(err)
		}
	}
	want := []Weight{{Frame{Name: "b"}, 10, 10}, {Frame{Name: "a"}, 0, 10}}
	if diff := cmp.Diff(want, b.Profile().Functions()); diff != "" {
		t.Error(diff)
	}
}

// TestMovers: profiles of unequal length are compared by shares.
func TestMovers(t *testing.T) {
	m := Movers(read(t, "before.folded")[0], read(t, "after.folded")[0])
	if m[0].Name != "pf_test" || !(math.Abs(m[0].SelfPoints-61) <= 1e-9) || m[0].BeforeSelf != 0 {
		t.Errorf("first mover: %+v", m[0])
	}
	sum := 0.0
	for _, x := range m {
		sum += x.SelfPoints
	}
	if !(math.Abs(sum) <= 1e-9) {
		t.Errorf("own shares move by %g together, want 0", sum)
	}
	same := read(t, "before.folded")[0]
	if m := Movers(same, same); len(m) > 0 && !Still(m[0]) {
		t.Errorf("nothing changed, and %+v moved", m[0])
	}
}

// TestPictures: they are well-formed whatever functions are called, and a
// box is as wide as its share.
func TestPictures(t *testing.T) {
	b := NewBuilder("", "samples", "")
	evil := `</title><script>alert(1)</script>"'&` + "\x01]]>"
	if err := errors.Join(b.Add([]Frame{{Name: evil}, {Name: "x"}}, 3), b.Add([]Frame{{Name: "y"}}, 1)); err != nil {
		t.Fatal(err)
	}
	p := b.Profile()
	svg, _ := p.Flame(evil)
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("not XML: %v", err)
		}
	}
	if strings.Contains(svg, "<script>alert") {
		t.Error("a function's name became markup")
	}
	boxes, depth := layout(tree(p))
	if depth != 2 || len(boxes) != 3 || boxes[0].width != 0.75 || boxes[2].x != 0.75 {
		t.Errorf("boxes %+v", boxes)
	}
}

func TestRefused(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range MaxBytes>>20 + 1 {
		z.Write(make([]byte, 1<<20))
	}
	z.Close()
	deep := "@ E [9 samples]\n\n100.0% [9] a\n   100.0% [9] b\n"
	for name, text := range map[string]string{
		"prose":            "It was a dark and stormy night\nand nothing was measured.\n",
		"empty":            "",
		"binary":           "\x00\x01\x02",
		"bomb":             bomb.String(),
		"graph that jumps": deep,
		"graph of words":   "@ E [9 samples]\n\nsoftly\n",
		"beyond 2^63":      "a 9223372036854775807\nb 1\n",
		"too deep":         strings.Repeat("a;", maxDepth+1) + "a 1\n",
		"negative":         "a;b 3\na;c -3\n",
		"no count":         "a;b 3\na;c\n",
	} {
		if found, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%s: read as %+v", name, found[0])
		}
	}
}

// TestCutShort: a file that ends in a line says how much of the profile it is.
func TestCutShort(t *testing.T) {
	data, err := os.ReadFile("testdata/two-cpus.graph")
	if err != nil {
		t.Fatal(err)
	}
	found, err := Parse(data[:bytes.Index(data, []byte("38.00%"))+12])
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(found[0].Notes, " "); !strings.Contains(notes, "ends within a line") || !strings.Contains(notes, "60 of the 100") {
		t.Errorf("notes %q", notes)
	}
}

func TestWeightOf(t *testing.T) {
	for _, test := range []struct {
		p    Profile
		want string
	}{
		{Profile{Samples: 3_000_000_000, Unit: "samples"}, "3,000,000,000 samples"},
		{Profile{Unit: "nanoseconds", Event: "cpu-clock", Stacks: []Stack{{Value: 1.5e9}}}, "1.50 s of cpu-clock"},
		{Profile{Samples: 1, Unit: "cycles", Event: "cycles"}, "1 sample"},
	} {
		if got := WeightOf(&test.p); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

func TestCutStacks(t *testing.T) {
	found, err := Parse([]byte(strings.Repeat("f;", 15) + "f 10\na;b 90\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(found[0].Notes) != 1 || !strings.Contains(found[0].Notes[0], "Stacks of 10.0 % are 16 frames deep") {
		t.Errorf("notes %q", found[0].Notes)
	}
}

// TestArchive reads every profile of the archive of FreeBSD benchmarks, and
// compares callgraphs with the folded stacks that were made of them then.
func TestArchive(t *testing.T) {
	dir := sharedtest.Dir(t, "data", "netbenches")
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !strings.HasSuffix(path, ".graph") && !strings.HasSuffix(path, ".stack") && !strings.HasSuffix(path, ".folded.txt") {
			return nil
		}
		n++
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		found, err := Read(file)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		if svg, _ := found[0].Flame(path); !strings.Contains(svg, "<rect") {
			t.Errorf("%s: no flame graph", path)
		}
		if graph, ok := strings.CutSuffix(path, ".stack"); ok {
			sameAsGraph(t, found[0], graph+".graph")
		}
		return nil
	})
	if err != nil || n == 0 {
		t.Errorf("%d profiles, %v", n, err)
	}
}

// sameAsGraph: the archive's folded stacks leave out samples that no caller
// accounts for, and little else.
func sameAsGraph(t *testing.T, stacks *Profile, graph string) {
	t.Helper()
	data, err := os.ReadFile(graph)
	if err != nil {
		return
	}
	found, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range Movers(stacks, found[0]) {
		if !(math.Abs(m.SelfPoints) <= 1) {
			t.Errorf("%s: %s has %.2f %% of the stacks and %.2f %% of the graph", graph, m.Name, m.BeforeSelf, m.AfterSelf)
		}
	}
}

// TestEscapedTextIsXML: names come from programs; a flame graph with any of
// them can be read, and shows what can be shown.
func TestEscapedTextIsXML(t *testing.T) {
	for in, want := range map[string]string{
		`f<T>(&"x", 'y')`: `f<T>(&"x", 'y')`, "tab\tline\nend": "tab\tline\nend",
		"nul\x00 and \x1f": "nul? and ?", "\ufffe\uffff\ufffd": "??\ufffd",
	} {
		var got struct {
			Text string `xml:",chardata"`
		}
		if err := xml.Unmarshal([]byte("<a>"+escape(in)+"</a>"), &got); err != nil || got.Text != want {
			t.Errorf("%q is read as %q, %v; want %q", in, got.Text, err, want)
		}
	}
}

// TestThrough: the stacks that hold a function, and nothing where none does.
func TestThrough(t *testing.T) {
	p := read(t, "before.folded")[0]
	own := p.Through([]string{"fib4_lookup"})
	if got := folded(t, own); got != "fork_exit;swi_net;ip_input;ip_forward;fib4_lookup 20" || own.Samples != 20 {
		t.Errorf("%s, %d samples", got, own.Samples)
	}
	if p.Through([]string{"no such"}) != nil {
		t.Error("stacks through what is nowhere")
	}
}

package profile

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// of builds a profile of stacks as "a;b;c 12", each function in the kernel.
func of(t testing.TB, stacks ...string) *Profile {
	t.Helper()
	b := NewBuilder("cpu-clock", "nanoseconds")
	for _, s := range stacks {
		names, value, _ := strings.Cut(s, " ")
		var frames []Frame
		for n := range strings.SplitSeq(names, ";") {
			frames = append(frames, Frame{n, "kernel"})
		}
		var n int64
		fmt.Sscan(value, &n)
		if err := b.Add(frames, n); err != nil {
			t.Fatal(err)
		}
	}
	return b.Profile()
}

func folded(p *Profile) string {
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

var before = []string{"fork_exit;cpu_idle 30", "fork_exit;swi_net;ip_input;ip_forward 50", "fork_exit;swi_net;ip_input;ip_forward;fib4_lookup 20"}

// TestPprofRoundTrip: what is written reads back alike.
func TestPprofRoundTrip(t *testing.T) {
	p := of(t, before...)
	var b bytes.Buffer
	if err := p.WritePprof(&b); err != nil {
		t.Fatal(err)
	}
	back, err := Read(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if back.Unit != p.Unit || back.Event != p.Event {
		t.Errorf("%q in %q, want %q in %q", back.Event, back.Unit, p.Event, p.Unit)
	}
	if diff := cmp.Diff(p.Stacks, back.Stacks); diff != "" {
		t.Error(diff)
	}
}

func TestFunctionsCountRecursionOnce(t *testing.T) {
	got := of(t, "a;b;a;b 5", "a;b 5").Functions()
	if diff := cmp.Diff([]Weight{{Frame{"b", "kernel"}, 10, 10}, {Frame{"a", "kernel"}, 0, 10}}, got); diff != "" {
		t.Error(diff)
	}
}

// TestMovers: profiles of unequal length are compared by shares.
func TestMovers(t *testing.T) {
	m := Movers(of(t, before...), of(t, "fork_exit;swi_net;ip_input;pf_check_in;pf_test 122", "fork_exit;cpu_idle 78"))
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
	same := of(t, before...)
	if m := Movers(same, same); len(m) > 0 && !Still(m[0]) {
		t.Errorf("nothing changed, and %+v moved", m[0])
	}
}

// TestPictures: they are well-formed whatever functions are called, and a
// box is as wide as its share.
func TestPictures(t *testing.T) {
	b := NewBuilder("", "samples")
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

// TestRefused: files that are no profile, and stacks that no profile has.
func TestRefused(t *testing.T) {
	packed := func(data []byte, times int) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		for range times {
			z.Write(data)
		}
		z.Close()
		return b.String()
	}
	for name, text := range map[string]string{
		"prose": "It was a dark and stormy night\n", "empty": "", "packed prose": packed([]byte("a;b 3\n"), 1), "packed nothing": packed(nil, 0),
		"bomb": packed(make([]byte, 1<<20), maxBytes>>20+1),
	} {
		if p, err := Read([]byte(text)); err == nil {
			t.Errorf("%s: read as %+v", name, p)
		}
	}
	b := NewBuilder("", "samples")
	if err := b.Add([]Frame{{Name: "a"}}, math.MaxInt64); err != nil {
		t.Fatal(err)
	}
	for name, add := range map[string]error{
		"beyond 2^63": b.Add([]Frame{{Name: "b"}}, 1), "negative": b.Add([]Frame{{Name: "b"}}, -1), "too deep": b.Add(make([]Frame, maxDepth+1), 1),
	} {
		if add == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// FuzzRead: an error, or a profile that can be drawn and written.
func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	if err := of(f, "a;b 3", "a 1").WritePprof(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Read(data)
		if err != nil || len(p.Stacks) == 0 {
			return
		}
		if err := p.WritePprof(io.Discard); err != nil || p.Total() < 0 {
			t.Fatalf("a total of %d: %v", p.Total(), err)
		}
		p.Flame("")
	})
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
	p := of(t, before...)
	if got := folded(p.Through([]string{"fib4_lookup"})); got != "fork_exit;swi_net;ip_input;ip_forward;fib4_lookup 20" {
		t.Error(got)
	}
	if p.Through([]string{"no such"}) != nil {
		t.Error("stacks through what is nowhere")
	}
}

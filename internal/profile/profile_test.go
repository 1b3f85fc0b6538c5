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
		b.Add(frames, n)
	}
	return b.Profile()
}

func folded(p *Profile) string {
	var lines []string
	for _, s := range p.Sample {
		var names []string
		for _, f := range framesOf(s) {
			names = append(names, f.Name)
		}
		lines = append(lines, fmt.Sprint(strings.Join(names, ";"), " ", s.Value[0]))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

var before = []string{"fork_exit;cpu_idle 30", "fork_exit;swi_net;ip_input;ip_forward 50", "fork_exit;swi_net;ip_input;ip_forward;fib4_lookup 20"}

// TestPprofRoundTrip: what is written reads back alike.
func TestPprofRoundTrip(t *testing.T) {
	p := of(t, before...)
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	back, err := Read(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := back.SampleType[0], p.SampleType[0]; got.Type != want.Type || got.Unit != want.Unit {
		t.Errorf("%s in %s, want %s in %s", got.Type, got.Unit, want.Type, want.Unit)
	}
	if got, want := folded(back), folded(p); got != want || framesOf(back.Sample[0])[0].Module != "kernel" {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestStacksAreDistinct: what is seen again weighs more.
func TestStacksAreDistinct(t *testing.T) {
	if got := folded(of(t, "a;b 5", "a 0", "a;b 2", "a 1")); got != "a 1\na;b 7" {
		t.Error(got)
	}
}

// TestMovers: profiles of unequal length are compared by shares.
func TestMovers(t *testing.T) {
	m := Movers(of(t, before...), of(t, "fork_exit;swi_net;ip_input;pf_check_in;pf_test 122", "fork_exit;cpu_idle 78"))
	if m[0].Name != "pf_test" || !(math.Abs(m[0].After-61) <= 1e-9) || m[0].Before != 0 {
		t.Errorf("first mover: %+v", m[0])
	}
	sum := 0.0
	for _, x := range m {
		sum += x.After - x.Before
	}
	if !(math.Abs(sum) <= 1e-9) {
		t.Errorf("own shares move by %g together, want 0", sum)
	}
	same := of(t, before...)
	if m := Movers(same, same); len(m) > 0 {
		t.Errorf("nothing changed, and %+v moved", m)
	}
}

// TestPictures: they are well-formed whatever functions are called, and a
// box is as wide as its share.
func TestPictures(t *testing.T) {
	b := NewBuilder("", "samples")
	evil := `</title><script>alert(1)</script>"'&` + "\x01]]>"
	b.Add([]Frame{{Name: evil}, {Name: "x"}}, 3)
	b.Add([]Frame{{Name: "y"}}, 1)
	p := b.Profile()
	svg, _ := Flame(p, evil)
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
	for name, stacks := range map[string][]string{"beyond 2^63": {"a 9223372036854775807", "b 1"}, "too deep": {strings.Repeat("a;", maxDepth) + "a 1"}} {
		var b bytes.Buffer
		if err := of(t, stacks...).Write(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(b.Bytes()); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// FuzzRead: an error, or a profile that can be drawn and written.
func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	if err := of(f, "a;b 3", "a 1").Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Read(data)
		if err != nil {
			return
		}
		if Total(p) < 0 {
			t.Fatalf("a total of %d", Total(p))
		}
		Flame(p, "")
		Movers(p, p)
		HeaviestSentence(p)
	})
}

func TestWeightOf(t *testing.T) {
	for want, p := range map[string]*Profile{"1.50 s of cpu-clock": of(t, "a 1500000000"), "3 cycles": cycles(3)} {
		if got := WeightOf(p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func cycles(n int64) *Profile {
	b := NewBuilder("cycles", "cycles")
	b.Add([]Frame{{Name: "a"}}, n)
	return b.Profile()
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
	if got := folded(Through(p, []string{"fib4_lookup"})); got != "fork_exit;swi_net;ip_input;ip_forward;fib4_lookup 20" {
		t.Error(got)
	}
	if Through(p, []string{"no such"}) != nil {
		t.Error("stacks through what is nowhere")
	}
}

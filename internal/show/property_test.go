package show

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// read is a printed number with what follows it, thousands and true minus undone.
func read(t *testing.T, text string) (v float64, rest string) {
	t.Helper()
	number, rest, _ := strings.Cut(text, " ")
	v, err := strconv.ParseFloat(strings.ReplaceAll(strings.ReplaceAll(strings.TrimLeft(number, "+±"), "−", "-"), ",", ""), 64)
	if err != nil {
		t.Errorf("%q is no number: %v", text, err)
	}
	return v, rest
}

// near reports whether a printed number is v to three significant digits.
func near(printed, v float64) bool { return math.Abs(printed-v) <= 0.00501*math.Abs(v) }

// TestPrintedNumbersAreTheNumbers: whatever its size, a number that is printed with three
// digits and a prefix is that number, and takes no more room than a table has for it.
func TestPrintedNumbersAreTheNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 1))
	prefixes := map[string]float64{"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
	binary := map[string]float64{"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
	times := map[string]float64{"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
	var values []float64
	for exponent := -1; exponent < 14; exponent++ {
		for _, m := range []float64{1, 9.99, 9.994, 9.995, 9.999, 1.0005, 1 + 9*r.Float64()} {
			values = append(values, m*math.Pow(10, float64(exponent)))
		}
	}
	for _, v := range values {
		for _, v := range []float64{v, -v} {
			if math.Abs(v) >= 1 {
				if got, _ := read(t, Digits(v)); !near(got, v) {
					t.Errorf("%g is printed %s", v, Digits(v))
				}
				got, unit := read(t, Rate(v))
				if factor, ok := prefixes[strings.TrimSuffix(unit, "pps")]; !ok || !near(got*factor, v) || math.Abs(got) >= 1000 && math.Abs(v) < 9e14 {
					t.Errorf("%g is printed %s", v, Rate(v))
				}
				got, unit = read(t, Bytes(v))
				if factor, ok := binary[unit]; !ok || !near(got*factor, v) || math.Abs(got) > 1024 && math.Abs(v) < 1<<50 {
					t.Errorf("%g is printed %s", v, Bytes(v))
				}
			}
			got, unit := read(t, Nanos(v))
			if factor, ok := times[unit]; !ok || math.Abs(v) >= 1 && !near(got*factor, v) || math.Abs(got) >= 1000 && math.Abs(v) < 9e11 {
				t.Errorf("%g ns is printed %s", v, Nanos(v))
			}
			if got, _ := read(t, Value(v)); !near(got, v) || len([]rune(Value(v))) > 12 {
				t.Errorf("%g is printed %s", v, Value(v))
			}
			if math.Abs(v) < 99_000 {
				if got, unit := read(t, SignedPercent(v)); math.Abs(got-v) > max(0.00501, 0.00501*math.Abs(v)) || unit != "%" {
					t.Errorf("%g is printed %s", v, SignedPercent(v))
				}
				if got, unit := read(t, Points(v)); math.Abs(got-math.Abs(v)) > max(0.00501, 0.00501*math.Abs(v)) || unit != "points" {
					t.Errorf("%g is printed %s", v, Points(v))
				}
			}
		}
	}
	for _, ratio := range []float64{1, 0.5, 0.01, 1.2e-6, 7.77e-9} {
		if got, _ := read(t, Loss(ratio)); !near(got, 100*ratio) {
			t.Errorf("a loss of %g is printed %s", ratio, Loss(ratio))
		}
	}
	if Loss(0) != "0 %" || Loss(1e-30) == "0 %" {
		t.Errorf("none is %s, hardly any %s", Loss(0), Loss(1e-30))
	}
}

// TestWhatIsNoNumber: no printer makes a number of what is none.
func TestWhatIsNoNumber(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for name, print := range map[string]func(float64) string{"Digits": Digits, "Value": Value, "SignedValue": SignedValue, "Nanos": Nanos, "Rate": Rate, "Loss": Loss, "Grouped": func(v float64) string { return Grouped(v, 2) },
			"Signed": func(v float64) string { return Signed(v, 2) }, "Trimmed": func(v float64) string { return Trimmed(v, 2) }} {
			if got := print(v); got != Unknown {
				t.Errorf("%s of %g is %q", name, v, got)
			}
		}
	}
	for _, print := range []func(float64) string{Percent, SignedPercent, Points, SignedPoints, P} {
		if got := print(math.NaN()); !strings.HasPrefix(got, Unknown) {
			t.Errorf("%q", got)
		}
	}
	if Interval(math.NaN(), 1) != Unknown || Interval(1, math.NaN()) != Unknown || SignedPercent(math.Inf(1)) != "> +99,999 %" || SignedPercent(math.Inf(-1)) != "> −99,999 %" {
		t.Error("intervals and what is enormous")
	}
}

// TestPValues as papers have them, alone and in a sentence.
func TestPValues(t *testing.T) {
	for p, want := range map[float64][2]string{0: {"< 0.001", "p < 0.001"}, 0.00099: {"< 0.001", "p < 0.001"}, 0.001: {"0.001", "p = 0.001"}, 0.0314: {"0.031", "p = 0.031"}, 1: {"1.000", "p = 1.000"}, math.NaN(): {Unknown, "p = " + Unknown}} {
		if P(p) != want[0] || PIs(p) != want[1] {
			t.Errorf("%g: %q, %q", p, P(p), PIs(p))
		}
	}
}

// TestDurations at the seams of their units.
func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration][2]string{
		0: {"0:00", "0 ms"}, 400 * time.Microsecond: {"0:00", "0.4 ms"}, 9999 * time.Microsecond: {"0:00", "10 ms"}, 12 * time.Millisecond: {"0:00", "12 ms"}, 999 * time.Millisecond: {"0:01", "999 ms"},
		1240 * time.Millisecond: {"0:01", "1.24 s"}, 59600 * time.Millisecond: {"1:00", "59.6 s"}, 61 * time.Second: {"1:01", "61 s"}, 3599 * time.Second: {"59:59", "3599 s"}, 3661 * time.Second: {"1:01:01", "3661 s"},
	} {
		if Clock(d) != want[0] || Brief(d) != want[1] {
			t.Errorf("%s: %q, %q; want %q", d, Clock(d), Brief(d), want)
		}
	}
}

// TestWrapKeepsEveryWord: lines are no wider than asked for but where one word is, and all
// words are there in their order.
func TestWrapKeepsEveryWord(t *testing.T) {
	r := rand.New(rand.NewPCG(52, 1))
	words := []string{"a", "µs", "packets", "12", "ms", "±", "0.3", "%", "→", "net.ipv4.tcp_slow_start_after_idle=0", "das", "漢字", "and", "3 points"}
	for range 300 {
		var text []string
		for range r.IntN(30) {
			text = append(text, words[r.IntN(len(words))])
		}
		joined := strings.Join(text, " ")
		limit := 5 + r.IntN(60)
		lines := Wrap(joined, limit)
		if got := strings.Join(strings.Fields(strings.Join(lines, " ")), " "); got != joined {
			t.Fatalf("%q became %q", joined, got)
		}
		for _, l := range lines {
			if Width(l) > limit && strings.Contains(strings.ReplaceAll(NoBreak(l), "\u00a0", "_"), " ") {
				t.Fatalf("%q is wider than %d, and could be broken", l, limit)
			}
		}
	}
}

// TestTablesInBands: however narrow the page, every cell stands in one band beside the first
// of its row, and no line is wider than the page but where one column is.
func TestTablesInBands(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 1))
	for range 60 {
		columns, rows := 2+r.IntN(9), 1+r.IntN(5)
		table := Table{Right: NumbersAfter(1 + r.IntN(2))}
		for i := range columns {
			table.Header = append(table.Header, fmt.Sprintf("h%d%s", i, strings.Repeat("x", r.IntN(9))))
		}
		for k := range rows {
			var row []string
			for i := range columns {
				row = append(row, fmt.Sprintf("%c%d", 'a'+k, i))
			}
			table.Add(row[:columns-r.IntN(2)]...)
		}
		width := 16 + r.IntN(60)
		lines := table.Lines(Style{Width: width, Fold: true})
		whole := strings.Join(lines, "\n")
		for _, row := range table.Rows {
			for i, cell := range row {
				n := 0
				for _, l := range lines {
					if f := strings.Fields(l); len(f) > 0 && f[0] == row[0] && slices.Contains(f, cell) {
						n++
					}
				}
				if i > 0 && n != 1 {
					t.Fatalf("%s stands %d times beside %s, %d wide:\n%s", cell, n, row[0], width, whole)
				}
			}
		}
		for _, l := range lines {
			if Width(l) > width && len(strings.Fields(l)) > 2 {
				t.Fatalf("%q is wider than %d:\n%s", l, width, whole)
			}
		}
		if one := table.Lines(Style{Width: width}); len(one) != rows+1 {
			t.Fatalf("a style that does not fold has %d lines of %d rows", len(one), rows)
		}
	}
}

// TestMarkdownPage: headings, paragraphs, lists, code and tables of a page of one's own, as a
// terminal has them.
func TestMarkdownPage(t *testing.T) {
	p := NewPage(Style{Width: 60, Fold: true})
	p.Markdown("# Title\n\nA *paragraph* with `code` and a [link](x.md) that goes on for longer than one line.\n\n- first\n- second\n\n1. one\n2. two\n\nRun:\n\n    linerate audit\n\n| name | what it means |\n|---|---|\n| `a` | the first |\n| b | the second |\n")
	got := p.String()
	for _, want := range []string{"Title\n", "A paragraph with code and a link that goes on for longer\nthan one line.\n", "- first\n- second\n", "1. one\n2. two\n", "    linerate audit\n", "  name  what it means\n", "  a     the first\n", "  b     the second\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.ContainsAny(got, "*`|[") {
		t.Errorf("marks are left:\n%s", got)
	}
	narrow := NewPage(Style{Width: 24})
	narrow.Markdown("| name | default | what it means |\n|---|---|---|\n| net.ipv4.tcp_sack | 1 | selective acknowledgements of what came |\n")
	if got := narrow.String(); !strings.Contains(got, "  net.ipv4.tcp_sack\n") || !strings.Contains(got, "    default: 1\n") || !strings.Contains(got, "    what it means:") {
		t.Errorf("a table that does not fit:\n%s", got)
	}
}

// TestLiveLine is written over on a terminal, cut to its width, and removed in the end.
func TestLiveLine(t *testing.T) {
	var b strings.Builder
	live := NewLive(&b, true, Style{Width: 10})
	if !live.On() || NewLive(&b, false, Style{}).On() {
		t.Error("whether a line is shown")
	}
	live.End() // nothing was shown: nothing to remove
	if b.Len() != 0 {
		t.Errorf("%q", b.String())
	}
	live.Show("%d of %d trials", 3, 400)
	if got := ansi.Strip(b.String()); !strings.HasPrefix(got, "\r") || Width(strings.TrimLeft(got, "\r")) > 9 || !strings.HasSuffix(got, "…") {
		t.Errorf("%q", got)
	}
	n := b.Len()
	live.End()
	live.End()
	if added := ansi.Strip(b.String()[n:]); added != "\r" {
		t.Errorf("at the end %q", added)
	}
	for share, want := range map[float64]string{-1: "────", 0: "────", 0.5: "━━──", 0.9: "━━━━", 2: "━━━━"} {
		if got := (Style{}).Bar(share, 4); got != want {
			t.Errorf("%g: %q", share, got)
		}
	}
}

package show

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestNumbers(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct{ got, want string }{
		{Digits(0), "0.00"}, {Digits(9.994), "9.99"}, {Digits(9.996), "10.0"}, {Digits(99.94), "99.9"}, {Digits(99.96), "100"}, {Digits(-12345), "−12,345"}, {Digits(nan), "–"}, {Digits(inf), "–"},
		{Grouped(-0.001, 2), "0.00"}, {Grouped(-1234.5, 1), "−1,234.5"}, {Grouped(999999, 0), "999,999"},
		{Signed(0.001, 2), "±0.00"}, {Signed(-0.004, 2), "±0.00"}, {Signed(2, 0), "+2"}, {Signed(-2, 0), "−2"}, {Signed(nan, 0), "–"},
		{Count(0), "0"}, {Count(uint64(1234567)), "1,234,567"}, {Count(-1234), "−1,234"},
		{Rate(999.4), "999 pps"}, {Rate(999.6), "1.00 kpps"}, {Rate(2.674e6), "2.67 Mpps"}, {Bits(9.414e9), "9.41 Gb/s"}, {Bits(1.2e13), "12.0 Tb/s"},
		{Bytes(512), "512 B"}, {Bytes(1536 * 1024), "1.50 MiB"}, {Bytes(8 << 30), "8 GiB"},
		{Percent(-0.449), "0.45 %"}, {Percent(0.996), "1.0 %"}, {Percent(99.96), "100 %"}, {Percent(1e9), "> 99,999 %"}, {Percent(nan), "–"},
		{SignedPercent(3.14), "+3.1 %"}, {SignedPercent(-0.05), "−0.05 %"}, {SignedPercent(-1e9), "> −99,999 %"},
		{Interval(-0.1, 12.34), "[−0.10, +12.3]"}, {Interval(nan, 1), "–"},
		{P(0.0004), "< 0.001"}, {P(0.0149), "0.015"}, {P(1), "1.000"}, {P(nan), "–"},
		{Optional(maybe{}, Percent), "–"}, {Optional(maybe{0.5, true}, Percent), "0.50 %"},
		{OptionalInterval(maybe{}, maybe{1, true}), "–"}, {OptionalInterval(maybe{-1, true}, maybe{1, true}), "[−1.0, +1.0]"},
		{Rate(nan), "–"}, {Nanos(nan), "–"}, {Value(1234567), "1,234,567"}, {Value(-0.123456789), "−0.123457"}, {Value(-1e-9), "−1e-09"}, {Value(12345.6), "12,346"}, {Value(nan), "–"}, {Value(2e12), "2e+12"}, {Value(0), "0"}, {Value(1000.8), "1,000.8"}, {Value(-1000.8), "−1,000.8"}, {Value(0.1), "0.1"}, {Value(1.5), "1.5"},
		{SignedValue(2), "+2"}, {SignedValue(0), "0"}, {SignedValue(-2.5), "−2.5"},
		{Tick(1.5e6), "1.5M"}, {Tick(0), "0"}, {Tick(-2e3), "−2k"}, {Tick(0.25), "0.25"},
		{Loss(0), "0 %"}, {Loss(1.234e-6), "0.000123 %"}, {Loss(0.00996), "1.00 %"}, {Loss(0.1234), "12.3 %"}, {Loss(1), "100 %"}, {Loss(nan), "–"},
		{Nanos(512), "512 ns"}, {Nanos(5.125), "5.12 ns"}, {Nanos(999.6), "1.00 µs"}, {Nanos(1.24e6), "1.24 ms"}, {Nanos(61e9), "61.0 s"},
		{Clock(65 * time.Second), "1:05"}, {Clock(3725 * time.Second), "1:02:05"},
		{Brief(400 * time.Microsecond), "0.4 ms"}, {Brief(12 * time.Millisecond), "12 ms"}, {Brief(1240 * time.Millisecond), "1.24 s"},
		{Plural(1, "line"), "1 line"}, {Plural(2000, "line"), "2,000 lines"},
		{List(nil), ""}, {List([]string{"a"}), "a"}, {List([]string{"a", "b", "c"}), "a, b and c"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// maybe is a number that may be unknown.
type maybe struct {
	v     float64
	known bool
}

func (m maybe) Get() (float64, bool) { return m.v, m.known }

func TestTableSetsNumbersRightAndIgnoresEscapes(t *testing.T) {
	st := Style{Colour: true}
	table := Table{Header: []string{"variant", "rate"}, Right: []bool{false, true}}
	table.Add(st.Paint(Good, "none"), "2.67 Mpps")
	table.Add("日本", "1 pps")
	var plain []string
	for _, l := range table.Lines(st) {
		plain = append(plain, strip(l))
	}
	want := []string{"variant       rate", "none     2.67 Mpps", "日本         1 pps"}
	if d := cmp.Diff(want, plain); d != "" {
		t.Error(d)
	}
}

func strip(s string) string {
	for {
		i := strings.Index(s, "\x1b[")
		if i < 0 {
			return s
		}
		s = s[:i] + s[i+strings.IndexByte(s[i:], 'm')+1:]
	}
}

// TestTableFolds: on a terminal the last column goes on below itself, where it has room; a
// number, and a column without room, stay as they are, and so does all of a file.
func TestTableFolds(t *testing.T) {
	table := Table{Header: []string{"name", "what it does"}}
	table.Add("one", "words enough for two lines of it")
	table.Add("two", "few")
	for name, c := range map[string]struct {
		style Style
		want  []string
	}{
		"a terminal":        {Style{Width: 31, Fold: true}, []string{"name  what it does", "one   words enough for two", "      lines of it", "two   few"}},
		"a wide terminal":   {Style{Width: 60, Fold: true}, []string{"name  what it does", "one   words enough for two lines of it", "two   few"}},
		"a narrow terminal": {Style{Width: 20, Fold: true}, []string{"name  what it does", "one   words enough for two lines of it", "two   few"}},
		"a file":            {Style{Width: 31}, []string{"name  what it does", "one   words enough for two lines of it", "two   few"}},
	} {
		if d := cmp.Diff(c.want, table.Lines(c.style)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestWrapKeepsNumbersWithTheirUnits(t *testing.T) {
	got := Wrap("it costs 12 % of 500 ns a\npacket", 11)
	want := []string{"it costs", "12 % of", "500 ns a", "packet"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, l := range Wrap(strings.Repeat("wort ", 100), 33) {
		if Width(l) > 33 {
			t.Errorf("%q is %d columns wide", l, Width(l))
		}
	}
}

func TestPage(t *testing.T) {
	p := NewPage(Style{Width: 30})
	p.Paragraph("→ ", "  ", "raise it only where the counter of full queues moves")
	want := "→ raise it only where the\n  counter of full queues moves\n"
	if p.String() != want {
		t.Errorf("got %q, want %q", p.String(), want)
	}
}

func TestPlainStyleHasNoEscapes(t *testing.T) {
	if got := (Style{}).Paint(Bad, "worse"); got != "worse" {
		t.Errorf("got %q", got)
	}
	if got := (Style{Colour: true}).Paint(Bad, "worse"); !strings.Contains(got, "\x1b[31m") {
		t.Errorf("got %q", got)
	}
}

func TestCleanDisarmsHostileText(t *testing.T) {
	if got := Clean("a\x1b[2Jb\tc\u202ed\u0085"); got != "a?[2Jb c?d?" {
		t.Errorf("got %q", got)
	}
}

func TestKeepEnd(t *testing.T) {
	if got := KeepEnd("/usr/local/etc/nginx.conf", 11); got != "…nginx.conf" {
		t.Errorf("got %q", got)
	}
}

func TestLiveIsSilentElsewhereAndCutsOnATerminal(t *testing.T) {
	var b strings.Builder
	l := NewLive(&b, false, Style{})
	l.Show("%d frames", 3)
	l.End()
	if b.Len() > 0 {
		t.Errorf("wrote %q to no terminal", b.String())
	}
	l = NewLive(&b, true, Style{Width: 10})
	l.Show("%s", "0123456789abc")
	l.End()
	if got := b.String(); got != "\r\x1b[K01234567…\r\x1b[K" {
		t.Errorf("got %q", got)
	}
}

package tunable_test

import (
	"strings"
	"testing"

	"linerate/internal/fact/release"
	"linerate/internal/setting"
	"linerate/internal/tunable"
)

func f64(x float64) *float64 { return &x }

func TestReject(t *testing.T) {
	bound := tunable.Constraints{Min: f64(0), Max: f64(12)}
	for _, c := range []struct {
		name  string
		typ   tunable.Type
		k     tunable.Constraints
		value string
		kind  string // "" fits
	}{
		{"a number", tunable.Int, bound, "3", ""},
		{"blanks around it", tunable.Int, bound, " 3 ", ""},
		{"hexadecimal", tunable.Int, bound, "0xc", ""},
		{"octal", tunable.Int, bound, "014", ""},
		{"octal beyond", tunable.Int, bound, "015", tunable.ProblemRange},
		{"above", tunable.Int, bound, "99", tunable.ProblemRange},
		{"below", tunable.Int, bound, "-1", tunable.ProblemRange},
		{"no number", tunable.Int, bound, "many", tunable.ProblemType},
		{"a fraction", tunable.Int, bound, "1.5", tunable.ProblemType},
		{"empty", tunable.Int, bound, "", tunable.ProblemType},
		{"suffix", tunable.U64, tunable.Constraints{}, "4g", ""},
		{"suffix that overflows", tunable.Int, tunable.Constraints{}, "4g", tunable.ProblemType},
		{"16 bits", tunable.U16, tunable.Constraints{}, "65535", ""},
		{"17 bits", tunable.U16, tunable.Constraints{}, "65536", tunable.ProblemType},
		{"negative unsigned", tunable.Uint, tunable.Constraints{}, "-1", tunable.ProblemType},
		{"power of two", tunable.Uint, tunable.Constraints{PowerOfTwo: true}, "1024", ""},
		{"no power of two", tunable.Uint, tunable.Constraints{PowerOfTwo: true}, "1000", tunable.ProblemPower},
		{"a choice", tunable.Int, tunable.Constraints{Values: []string{"0", "3"}}, "0x3", ""},
		{"no choice", tunable.Int, tunable.Constraints{Values: []string{"0", "3"}}, "2", tunable.ProblemChoice},
		{"a word", tunable.String, tunable.Constraints{Values: []string{"direct", "deferred"}}, "direct", ""},
		{"another word", tunable.String, tunable.Constraints{Values: []string{"direct", "deferred"}}, "fast", tunable.ProblemChoice},
		{"a switch", tunable.YesNo, tunable.Constraints{}, "yes", ""},
		{"no switch", tunable.YesNo, tunable.Constraints{}, "maybe", tunable.ProblemType},
		{"free text", tunable.String, tunable.Constraints{}, "anything at all", ""},
		{"Go's binary", tunable.Int, tunable.Constraints{}, "0b11", tunable.ProblemType},
		{"Go's underscore", tunable.Int, tunable.Constraints{}, "1_000", tunable.ProblemType},
		{"endless", tunable.U64, tunable.Constraints{}, strings.Repeat("9", 1<<20), tunable.ProblemType},
	} {
		r := &tunable.Record{Type: c.typ, Constraints: c.k}
		p := r.Reject(c.value)
		got := ""
		if p != nil {
			got = p.Kind
		}
		if got != c.kind {
			t.Errorf("%s: Reject(%.20q) is %q, want %q", c.name, c.value, got, c.kind)
		}
	}
}

func TestSameValue(t *testing.T) {
	for _, c := range []struct {
		typ  tunable.Type
		a, b string
		want bool
	}{
		{tunable.Int, "16", "0x10", true},
		{tunable.U64, "4g", "4294967296", true},
		{tunable.Int, "1", "2", false},
		{tunable.YesNo, "YES", "on", true},
		{tunable.YesNo, "YES", "NO", false},
		{tunable.YesNo, "NONE", "NO", false},
		{tunable.String, "cubic", "cubic ", true},
		{tunable.String, "1", "0x1", false},
	} {
		r := &tunable.Record{Type: c.typ}
		if got := r.SameValue(c.a, c.b); got != c.want {
			t.Errorf("%s: SameValue(%q, %q) = %v", c.typ, c.a, c.b, got)
		}
	}
}

func FuzzReject(f *testing.F) {
	for _, s := range []string{"", "0x", "1k", "-", "4G", "0b1", "1e9", "\x00", "９"} {
		f.Add(s)
	}
	r := &tunable.Record{Type: tunable.Uint, Constraints: tunable.Constraints{Min: f64(1), Max: f64(100), PowerOfTwo: true}}
	f.Fuzz(func(t *testing.T, s string) {
		if r.Reject(s) == nil {
			n, ok := tunable.ParseInteger(strings.TrimSpace(s))
			if !ok || n.Sign() <= 0 || n.Int64() > 100 {
				t.Errorf("%q was accepted", s)
			}
		}
		tunable.Folded(s)
	})
}

// TestVector: each element of a vector must be within its bounds; vectors are compared by their
// numbers, times in ticks by the tick.
func TestVector(t *testing.T) {
	least := 1.0
	r := tunable.Record{Type: tunable.Numbers, Constraints: tunable.Constraints{Min: &least, Count: 3}}
	for v, ok := range map[string]bool{"4096 87380 16777216": true, "4096\t87380\t16777216": true, "4096": true,
		"": false, "1 2 3 4": false, "0 1 2": false, "4k b 7": false} {
		if got := r.Reject(v) == nil; got != ok {
			t.Errorf("%q: fits %v, want %v", v, got, ok)
		}
	}
	if !r.SameValue("1\t2\t3", "1 2 3") || r.SameValue("1 2 3", "1 2 4") {
		t.Error("vectors are compared wrong")
	}
	ms := tunable.Record{Type: tunable.Int, Unit: "ms", Constraints: tunable.Constraints{Jiffies: true}}
	if !ms.SameValue("250", "252") || ms.SameValue("250", "260") {
		t.Error("ticks are compared wrong")
	}
}

// TestRangeOn: type and mechanism imply what a record omits, and a change's statements apply on its
// releases.
func TestRangeOn(t *testing.T) {
	old, now := release.MustParse("5.10"), release.MustParse("6.12")
	least, most := 0.0, 65535.0
	for _, c := range []struct {
		name            string
		r               tunable.Record
		rel             release.Release
		value           string
		outside, beyond tunable.Outside // of the range
		becomes         tunable.Outside // of the value; "" where it fits
	}{
		{"a number of Linux", tunable.Record{OS: tunable.Linux, Type: tunable.U8, Mechanism: setting.Sysctl}, now, "256", tunable.Refused, "", tunable.Refused},
		{"a number of FreeBSD", tunable.Record{OS: tunable.FreeBSD, Type: tunable.U8, Mechanism: setting.Sysctl}, now, "256", tunable.Wrapped, "", tunable.Wrapped},
		{"all of its type, whatever is written", tunable.Record{OS: tunable.FreeBSD, Type: tunable.U16, Mechanism: setting.Sysctl,
			Constraints: tunable.Constraints{Min: &least, Max: &most, Outside: tunable.Taken}}, now, "65536", tunable.Wrapped, "", tunable.Wrapped},
		{"bounds and a width", tunable.Record{OS: tunable.FreeBSD, Type: tunable.Int, Mechanism: setting.Sysctl,
			Constraints: tunable.Constraints{Min: &least, Outside: tunable.Taken}}, now, "-1", tunable.Taken, tunable.Wrapped, tunable.Taken},
		{"a module's parameter", tunable.Record{OS: tunable.Linux, Type: tunable.Uint, Mechanism: setting.Module, Constraints: tunable.Constraints{Max: &most}}, now, "65536", tunable.Refused, "", tunable.Refused},
		{"a word of the command line", tunable.Record{OS: tunable.Linux, Type: tunable.String, Mechanism: setting.Cmdline, Constraints: tunable.Constraints{Values: []string{"on"}}}, now, "of", tunable.OwnSize, "", tunable.OwnSize},
		{"a switch of rc.conf", tunable.Record{OS: tunable.FreeBSD, Type: tunable.YesNo, Mechanism: setting.RC}, now, "maybe", tunable.Off, "", tunable.Off},
		{"before a change of bounds", tunable.Record{OS: tunable.Linux, Type: tunable.Int, Mechanism: setting.Sysctl,
			Changes: []tunable.Change{{From: now, Constraints: &tunable.Constraints{Min: &least}}}}, old, "-1", tunable.Refused, "", ""},
		{"after it", tunable.Record{OS: tunable.Linux, Type: tunable.Int, Mechanism: setting.Sysctl,
			Changes: []tunable.Change{{From: now, Constraints: &tunable.Constraints{Min: &least}}}}, now, "-1", tunable.Refused, "", tunable.Refused},
	} {
		x, becomes := c.r.RangeOn(c.rel), tunable.Outside("")
		if p := c.r.RejectOn(c.rel, c.value); p != nil {
			becomes = p.Outside
		}
		if x.Outside != c.outside || x.Beyond != c.beyond || becomes != c.becomes {
			t.Errorf("%s: outside %q, beyond %q, %s becomes %q; want %q, %q, %q", c.name, x.Outside, x.Beyond, c.value, becomes, c.outside, c.beyond, c.becomes)
		}
	}
}

package fact

import (
	"slices"
	"strings"
	"testing"
)

// TestLines: line endings of either kind are not part of the text, and counts are parsed as numbers.
func TestLines(t *testing.T) {
	if got := Lines("a\r\n\nb \nc"); !slices.Equal(got, []string{"a", "", "b ", "c"}) {
		t.Errorf("%q", got)
	}
	if got := Lines(""); len(got) != 0 {
		t.Errorf("lines of an empty text: %q", got)
	}
	if got := len(Lines(strings.Repeat("x\n", MaxLines+9))); got != MaxLines {
		t.Errorf("%d lines, want %d", got, MaxLines)
	}
	const blank = " 7\n"
	for s, want := range map[string]uint64{blank: 7, "18446744073709551615": 1<<64 - 1, "18446744073709551616": 0, "-1": 0, "x": 0, "": 0} {
		if got := Number(s); got != want {
			t.Errorf("%q is %d, want %d", s, got, want)
		}
	}
	for s, want := range map[string]int{blank: 7, "-1": 0, "7x": 0, "": 0} {
		if got := Int(s); got != want {
			t.Errorf("%q is %d as an int, want %d", s, got, want)
		}
	}
	if !IsNumber("0123") || IsNumber("") || IsNumber("-1") || IsNumber("1 ") {
		t.Error("IsNumber must accept digits only, and at least one")
	}
}

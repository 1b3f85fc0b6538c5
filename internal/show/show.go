// Package show formats output for people: numbers with units, percentages,
// p-values, intervals, durations, tables, paragraphs, colour, and overwritten
// lines. Programs read JSON instead, in which numbers are never rounded.
//
// The rule is three significant digits: measurements here are rarely more
// accurate, and columns of them are readable. Unknown is an en dash.
package show

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Unknown is shown for an unknown value.
const Unknown = "–"

// DefaultWidth is the default width of a page.
const DefaultWidth = 80

// Style is the style of a page. The zero value is plain text of 80 columns.
type Style struct {
	Colour bool // ANSI colours
	Width  int  // columns; 0 means DefaultWidth
	Fold   bool // wrap tables that are too wide; otherwise a record is one line
}

// Columns returns the style's width, never 0.
func (s Style) Columns() int {
	if s.Width <= 0 {
		return DefaultWidth
	}
	return s.Width
}

// Ink is a meaning that a terminal shows as a colour or a weight.
type Ink int

// The inks. Good and Bad are for verdicts, Doubt is for warnings and for what could not be decided.
const (
	Plain Ink = iota
	Bold
	Dim
	Good
	Bad
	Doubt
	Note
)

var inks = map[Ink]ansi.Style{
	Bold:  ansi.NewStyle(ansi.AttrBold),
	Dim:   ansi.NewStyle(ansi.AttrFaint),
	Good:  ansi.NewStyle(ansi.AttrGreenForegroundColor),
	Bad:   ansi.NewStyle(ansi.AttrRedForegroundColor),
	Doubt: ansi.NewStyle(ansi.AttrYellowForegroundColor),
	Note:  ansi.NewStyle(ansi.AttrCyanForegroundColor),
}

// Paint formats text in an ink, or plainly if the style has no colour.
func (s Style) Paint(ink Ink, text string) string {
	if !s.Colour || ink == Plain || text == "" {
		return text
	}
	return inks[ink].Styled(text)
}

// Headline is Paint in bold.
func (s Style) Headline(ink Ink, text string) string {
	if !s.Colour || text == "" {
		return text
	}
	return append(ansi.NewStyle(ansi.AttrBold), inks[ink]...).Styled(text)
}

// Bold is Paint in the ink Bold.
func (s Style) Bold(text string) string { return s.Paint(Bold, text) }

// Dim is Paint in the ink Dim.
func (s Style) Dim(text string) string { return s.Paint(Dim, text) }

// Width returns the number of terminal columns of a text: none for escape sequences, two for wide
// characters.
func Width(text string) int { return ansi.StringWidth(text) }

// Pad pads a text with spaces to n columns; wider texts are unchanged.
func Pad(text string, n int) string { return text + strings.Repeat(" ", max(0, n-Width(text))) }

// KeepEnd truncates a text to n columns at its beginning: the end of a path distinguishes it from
// its neighbours.
func KeepEnd(text string, n int) string {
	w := Width(text)
	if w <= n {
		return text
	}
	return ansi.TruncateLeft(text, w-n+1, "…")
}

// KeepStart truncates a text to n columns at its end.
func KeepStart(text string, n int) string { return ansi.Truncate(text, n, "…") }

// Clean prevents hostile files and hosts from controlling a terminal: control characters become
// "?", white space becomes a space.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return ' '
		case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0, bidi(r):
			return '?'
		}
		return r
	}, text)
}

// bidi reports characters that change the direction of writing, which make a line read as something
// else (CVE-2021-42574).
func bidi(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f
}

// Package chart draws charts as SVG for linerate's pages, and provides the
// frame of these pages. Charts load no external resources; a style sheet
// styles their classes for light and dark screens and for print.
package chart

import (
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"strings"

	"linerate/internal/show"
)

// Width is the width of all charts in pixels; on small screens they scroll sideways.
const Width = 860.0

// Canvas collects the elements of a chart.
type Canvas struct {
	H float64 // height in pixels; the type is 12 pixels
	b strings.Builder
}

// New returns an empty canvas.
func New(height float64) *Canvas { return &Canvas{H: height} }

// Shape adds an SVG element; the caller must escape its text.
func (c *Canvas) Shape(format string, args ...any) { fmt.Fprintf(&c.b, format+"\n", args...) }

// Line draws a straight line.
func (c *Canvas) Line(class string, x1, y1, x2, y2 float64) {
	c.Shape(`<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1, x2, y2)
}

// Path draws a polyline through points.
func (c *Canvas) Path(class string, points [][2]float64) {
	var b strings.Builder
	for _, p := range points {
		fmt.Fprintf(&b, "%.1f,%.1f ", p[0], p[1])
	}
	c.Shape(`<polyline class="%s" points="%s"/>`, class, strings.TrimSpace(b.String()))
}

// Rect draws a rectangle; a negative width or height is taken as 0.
func (c *Canvas) Rect(class string, x, y, w, h float64) {
	c.Shape(`<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, class, x, y, max(0, w), max(0, h))
}

// Cell draws a rectangle with an opacity from 0 to 1.
func (c *Canvas) Cell(class string, x, y, w, h, opacity float64) {
	c.Shape(`<rect class="%s" x="%.2f" y="%.1f" width="%.2f" height="%.1f" opacity="%.2f"/>`, class, x, y, w, h, opacity)
}

// Dot draws a point with a tooltip.
func (c *Canvas) Dot(class string, x, y, r float64, title string) {
	c.Shape(`<circle class="%s" cx="%.1f" cy="%.1f" r="%.1f"><title>%s</title></circle>`, class, x, y, r, html.EscapeString(title))
}

// Text draws a label; anchor is start, middle or end.
func (c *Canvas) Text(class, anchor string, x, y float64, s string) {
	c.Shape(`<text class="%s" text-anchor="%s" x="%.1f" y="%.1f">%s</text>`, class, anchor, x, y, html.EscapeString(s))
}

// Tick draws an axis label, moved if necessary to stay within the chart.
func (c *Canvas) Tick(x, y float64, s string) {
	half := TextWidth(s)/2 + 1
	c.Text("tick", "middle", max(half, min(Width-half, x)), y, s)
}

// SVG returns the finished chart. label describes it for screen readers.
func (c *Canvas) SVG(label string) string {
	return fmt.Sprintf(`<svg class="chart" viewBox="0 0 %.0f %.0f" role="img" aria-label="%s" xmlns="http://www.w3.org/2000/svg">`+"\n%s</svg>",
		Width, c.H, html.EscapeString(label), c.b.String())
}

// TextWidth estimates the width in pixels of a label in 12-pixel type.
func TextWidth(s string) float64 { return 7 * float64(show.Width(s)) }

//go:embed chart.css
var chartCSS string

// Style returns the style sheet of charts: the colours for light, dark and
// print, and the styles of shapes.
func Style() string { return chartCSS }

// Figure is a chart with its title and note.
type Figure struct {
	Title, Note string
	SVG         template.HTML
}

// Draw returns a Figure of an SVG chart whose texts are all escaped, or none
// for an empty chart.
func Draw(title, note, svg string) []Figure {
	if svg == "" {
		return nil
	}
	return []Figure{{title, note, template.HTML(svg)}} //nolint:gosec // the caller must have escaped all text
}

// Alone returns a chart as a standalone SVG file, with its style and a background.
func Alone(svg string) []byte {
	head, body, _ := strings.Cut(svg, "\n")
	return fmt.Appendf(nil, "%s\n<style>%s</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"var(--paper)\"/>\n%s\n", head, chartCSS, body)
}

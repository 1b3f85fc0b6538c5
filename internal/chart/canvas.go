// Package chart draws the charts of linerate's pages as SVG and frames the
// pages that they stand in. Charts load nothing, and take their looks from
// classes: one style sheet knows light, dark and paper.
package chart

import (
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"strings"

	"linerate/internal/show"
)

// Width is that of all charts; small screens pan them.
const Width = 860.0

// Canvas collects the shapes of one chart.
type Canvas struct {
	H float64 // in pixels, as its 12-pixel type
	b strings.Builder
}

// New begins a chart.
func New(height float64) *Canvas { return &Canvas{H: height} }

// Shape adds an element; the caller escapes its texts.
func (c *Canvas) Shape(format string, args ...any) { fmt.Fprintf(&c.b, format+"\n", args...) }

// Line draws a straight line.
func (c *Canvas) Line(class string, x1, y1, x2, y2 float64) {
	c.Shape(`<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1, x2, y2)
}

// Path draws a line through points.
func (c *Canvas) Path(class string, points [][2]float64) {
	var b strings.Builder
	for _, p := range points {
		fmt.Fprintf(&b, "%.1f,%.1f ", p[0], p[1])
	}
	c.Shape(`<polyline class="%s" points="%s"/>`, class, strings.TrimSpace(b.String()))
}

// Rect draws a rectangle; a negative width or height is none.
func (c *Canvas) Rect(class string, x, y, w, h float64) {
	c.Shape(`<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, class, x, y, max(0, w), max(0, h))
}

// Cell is a Rect of an opacity from 0 to 1.
func (c *Canvas) Cell(class string, x, y, w, h, opacity float64) {
	c.Shape(`<rect class="%s" x="%.2f" y="%.1f" width="%.2f" height="%.1f" opacity="%.2f"/>`, class, x, y, w, h, opacity)
}

// Dot draws a point with a text that appears when it is pointed at.
func (c *Canvas) Dot(class string, x, y, r float64, title string) {
	c.Shape(`<circle class="%s" cx="%.1f" cy="%.1f" r="%.1f"><title>%s</title></circle>`, class, x, y, r, html.EscapeString(title))
}

// Text puts a label; anchor is start, middle or end.
func (c *Canvas) Text(class, anchor string, x, y float64, s string) {
	c.Shape(`<text class="%s" text-anchor="%s" x="%.1f" y="%.1f">%s</text>`, class, anchor, x, y, html.EscapeString(s))
}

// Tick labels an axis, kept within the chart.
func (c *Canvas) Tick(x, y float64, s string) {
	half := TextWidth(s)/2 + 1
	c.Text("tick", "middle", max(half, min(Width-half, x)), y, s)
}

// SVG closes the chart. The label describes it to readers who cannot see it.
func (c *Canvas) SVG(label string) string {
	return fmt.Sprintf(`<svg class="chart" viewBox="0 0 %.0f %.0f" role="img" aria-label="%s" xmlns="http://www.w3.org/2000/svg">`+"\n%s</svg>",
		Width, c.H, html.EscapeString(label), c.b.String())
}

// TextWidth estimates the width of a label in the chart's 12-pixel type.
func TextWidth(s string) float64 { return 7 * float64(show.Width(s)) }

//go:embed chart.css
var chartCSS string

// Style is the style sheet of charts: the colours of light, dark and paper, and
// the looks of shapes.
func Style() string { return chartCSS }

// Figure is a chart with its words.
type Figure struct {
	Title, Note string
	SVG         template.HTML
}

// Draw makes a Figure of a chart that escapes every text; none where there is
// nothing to draw.
func Draw(title, note, svg string) []Figure {
	if svg == "" {
		return nil
	}
	return []Figure{{title, note, template.HTML(svg)}} //nolint:gosec // the caller's part of the contract
}

// Alone makes a chart a standalone document, with its style and a background.
func Alone(svg string) []byte {
	head, body, _ := strings.Cut(svg, "\n")
	return fmt.Appendf(nil, "%s\n<style>%s</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"var(--paper)\"/>\n%s\n", head, chartCSS, body)
}

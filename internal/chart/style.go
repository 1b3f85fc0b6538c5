package chart

import (
	_ "embed"
	"fmt"
	"html/template"
	"strings"
)

//go:embed chart.css
var chartCSS string

// Style is the style sheet of charts: the colours of light, dark and paper, and
// the looks of shapes.
func Style() string { return chartCSS }

// Figure is a chart drawn for both widths, with its words.
type Figure struct {
	Title, Note  string
	Wide, Narrow template.HTML
}

// Draw makes a Figure of a chart that escapes every text; none where there is
// nothing to draw.
func Draw(title, note string, draw func(width float64) string) []Figure {
	wide := draw(Wide)
	if wide == "" {
		return nil
	}
	return []Figure{{title, note, template.HTML(wide), template.HTML(draw(Narrow))}} //nolint:gosec // the caller's part of the contract
}

// Alone makes a chart a standalone document, with its style and a background.
func Alone(svg string) []byte {
	// Pages hide wide charts on narrow screens; a standalone chart has no narrow twin.
	svg = strings.Replace(svg, `class="chart wide"`, `class="chart"`, 1)
	head, body, _ := strings.Cut(svg, "\n")
	return fmt.Appendf(nil, "%s\n<style>%s</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"var(--paper)\"/>\n%s\n", head, chartCSS, body)
}

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

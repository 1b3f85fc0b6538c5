package profile

import (
	_ "embed"
	"fmt"
	"hash/fnv"
	"html"
	"io"
	"math"
	"strings"

	"linerate/internal/chart"
	"linerate/internal/show"
)

// Sizes of a flame graph, in the units of its viewBox.
const (
	flameWidth = 1200.0
	rowHeight  = 18
	letter     = 6.7 // mean width of a character of 11 units
	headHeight = 46  // of a picture that stands alone
)

//go:embed flame.css
var flameCSS string

//go:embed flame.js
var flameJS string

// Picture is a flame graph of one profile, or of how After differs from
// Before.
type Picture struct {
	Title  string
	Before *Profile // nil: no comparison
	After  *Profile
	// ByBefore makes the boxes as wide as in Before: it shows what is gone.
	ByBefore bool
}

// caption says how to read the picture.
func (p Picture) caption() string {
	if p.Before == nil {
		return WeightOf(p.After) + ". Width is the share of time in a function and what it calls; callers are beneath. Boxes below 0.1 % are left out."
	}
	width := "after"
	if p.ByBefore {
		width = "before"
	}
	return "Both profiles are scaled to equal totals; boxes are as wide as " + width + ". Red: the function itself takes a larger share after than before, by this chain of calls; blue: a smaller one."
}

// WeightOf says how much a profile holds: "1,234 samples of cpu-clock".
func WeightOf(p *Profile) string {
	event := ""
	if p.Event != "" && p.Event != p.Unit && p.Event != "samples" {
		event = " of " + p.Event
	}
	if p.Samples > 0 {
		return show.Plural(int(p.Samples), "sample") + event
	}
	if p.Unit == "nanoseconds" {
		return show.Nanos(float64(p.Total())) + event
	}
	return show.Count(p.Total()) + " " + p.Unit + event
}

// WriteSVG writes the picture as a document of its own, which zooms on a click
// and finds functions when opened in a browser.
func (p Picture) WriteSVG(w io.Writer) error {
	body, height := p.boxes()
	_, err := fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" class="flame alone" viewBox="0 %d %d %d" width="%d" height="%d" role="img">
<title>%s</title>
<style>%s</style>
<rect class="paper" x="0" y="%d" width="100%%" height="100%%"/>
<text class="title" x="4" y="%d">%s</text>
<text class="aside" x="4" y="%d">%s</text>
%s<script><![CDATA[%s]]></script>
</svg>
`, -headHeight, int(flameWidth), height+headHeight+22, int(flameWidth), height+headHeight+22,
		escape(p.Title), chart.Style()+flameCSS, -headHeight, -headHeight+20, escape(p.Title), -headHeight+38, escape(p.caption()), body, flameJS)
	return err
}

// inline is the picture within a page.
func (p Picture) inline() string {
	body, height := p.boxes()
	return fmt.Sprintf(`<svg class="flame" viewBox="0 0 %d %d" role="img" aria-label="%s">%s</svg>`, int(flameWidth), height+22, escape(p.Title), body)
}

// boxes draws the boxes and the line that names the one pointed at.
func (p Picture) boxes() (svg string, height int) {
	root, i := tree(p.After), 0
	paint := func(b box) string { return warm(b.frame) }
	about := func(b box) string {
		return fmt.Sprintf("%s: %s, itself %s", fullName(b.frame), show.Percent(b.share(root, 0, false)), show.Percent(b.share(root, 0, true)))
	}
	if p.Before != nil {
		root, i = tree(p.Before, p.After), 1
		if p.ByBefore {
			i = 0
		}
		scale := largestMove(root, root)
		paint = func(b box) string { return redBlue(b.selfPoints(root), scale) }
		about = func(b box) string {
			return fmt.Sprintf("%s: self %s, before %s, after %s; total before %s, after %s", fullName(b.frame), Points(b.selfPoints(root)),
				show.Percent(b.share(root, 0, true)), show.Percent(b.share(root, 1, true)), show.Percent(b.share(root, 0, false)), show.Percent(b.share(root, 1, false)))
		}
	}
	boxes, depth := layout(root, i)
	height = max(depth, 1) * rowHeight
	var out strings.Builder
	for _, b := range boxes {
		drawBox(&out, b, height, paint(b), about(b))
	}
	fmt.Fprintf(&out, `<text class="aside pointed" x="4" y="%d"></text>`+"\n", height+15)
	return out.String(), height
}

// drawBox writes a box with what a reader sees by pointing at it.
func drawBox(out *strings.Builder, b box, height int, paint, about string) {
	x, w, y := b.x*flameWidth, b.width*flameWidth, height-(b.depth+1)*rowHeight
	name := show.Clean(b.frame.Name)
	fmt.Fprintf(out, `<g class="f" data-n="%s" data-x="%.6f" data-w="%.6f" data-d="%d"><title>%s</title><rect x="%.2f" y="%d" width="%.2f" height="%d" %s/><text x="%.2f" y="%d">%s</text></g>`+"\n",
		escape(name), b.x, b.width, b.depth, escape(about), x, y, max(w-0.5, 0.3), rowHeight-1, paint, x+3, y+12, escape(fitted(name, w)))
}

// fitted cuts a name to what a box has room for.
func fitted(name string, width float64) string {
	room := int((width - 5) / letter)
	runes := []rune(name)
	switch {
	case room >= len(runes):
		return name
	case room < 3:
		return ""
	}
	return string(runes[:room-1]) + "…"
}

// warm colours a function by its name: the hue tells neighbours apart and
// means nothing else.
func warm(f Frame) string {
	h := fnv.New32a()
	io.WriteString(h, f.Name) //nolint:errcheck // a hash does not fail
	n := h.Sum32()
	return fmt.Sprintf(`style="fill:hsl(%d %d%% var(--heat))"`, 18+n%34, 62+n/64%22)
}

// redBlue colours a difference: pale without one, full at the largest.
func redBlue(points, scale float64) string {
	if scale == 0 || math.Abs(points) < 0.005 {
		return `class="same"`
	}
	strength := 12 + 88*math.Sqrt(math.Abs(points)/scale)
	paint := "var(--more)"
	if points < 0 {
		paint = "var(--less)"
	}
	return fmt.Sprintf(`style="fill:color-mix(in srgb,%s %.0f%%,var(--same))"`, paint, strength)
}

func fullName(f Frame) string {
	if f.Module == "" {
		return show.Clean(f.Name)
	}
	return show.Clean(f.Name + " (" + f.Module + ")")
}

// Points prints a difference of shares: "+61.2 points".
func Points(v float64) string { return strings.TrimSuffix(show.SignedPercent(v), " %") + " points" }

func escape(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0xfffe || r == 0xffff {
			return '?'
		}
		return r
	}, s))
}

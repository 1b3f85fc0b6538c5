package profile

import (
	_ "embed"
	"fmt"
	"hash/fnv"
	"html"
	"io"
	"strings"

	"linerate/internal/show"
)

// Sizes of a flame graph, in the units of its viewBox.
const (
	flameWidth = 1200.0
	rowHeight  = 18
	letter     = 6.7 // mean width of a character of 11 units
)

//go:embed flame.css
var flameCSS string

// FlameStyle is the style sheet that flame graphs within a page need.
func FlameStyle() string { return flameCSS }

// Flame draws a profile as a flame graph for a page that has FlameStyle: names and
// shares are seen by pointing. Its caption says how to read it.
func Flame(p *Profile, title string) (svg, caption string) {
	root := tree(p)
	boxes, depth := layout(root)
	height := max(depth, 1) * rowHeight
	var out strings.Builder
	for _, b := range boxes {
		drawBox(&out, b, root, height)
	}
	return fmt.Sprintf(`<svg class="flame" viewBox="0 0 %d %d" role="img" aria-label="%s">%s</svg>`, int(flameWidth), height+22, escape(title), out.String()),
		WeightOf(p) + ". Width is the share of time in a function and what it calls; callers are beneath. Boxes below 0.1 % are left out."
}

// WeightOf says how much a profile holds: "1.50 s of cpu-clock".
func WeightOf(p *Profile) string {
	t := p.SampleType[0]
	switch t.Unit {
	case "nanoseconds":
		return show.Nanos(float64(Total(p))) + " of " + t.Type
	case t.Type:
		return show.Count(Total(p)) + " " + t.Unit
	}
	return show.Count(Total(p)) + " " + t.Unit + " of " + t.Type
}

// drawBox writes a box with what a reader sees by pointing at it.
func drawBox(out *strings.Builder, b box, root *node, height int) {
	whole := float64(root.value)
	x, w, y := b.x*flameWidth, b.width*flameWidth, height-(b.depth+1)*rowHeight
	about := fmt.Sprintf("%s: %s, itself %s", fullName(b.frame), show.Percent(100*float64(b.value)/whole), show.Percent(100*float64(b.self)/whole))
	fmt.Fprintf(out, `<g class="f"><title>%s</title><rect x="%.2f" y="%d" width="%.2f" height="%d" %s/><text x="%.2f" y="%d">%s</text></g>`+"\n",
		escape(about), x, y, max(w-0.5, 0.3), rowHeight-1, warm(b.frame), x+3, y+12, escape(fitted(show.Clean(b.frame.Name), w)))
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

func fullName(f Frame) string {
	if f.Module == "" {
		return show.Clean(f.Name)
	}
	return show.Clean(f.Name + " (" + f.Module + ")")
}

func escape(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0xfffe || r == 0xffff {
			return '?'
		}
		return r
	}, s))
}

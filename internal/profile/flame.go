package profile

import (
	"cmp"
	_ "embed"
	"fmt"
	"hash/fnv"
	"html"
	"io"
	"maps"
	"slices"
	"strings"

	"linerate/internal/list"
	"linerate/internal/show"
)

// node is a function in one call chain: a box of a flame graph.
type node struct {
	frame       Frame
	value, self int64 // total time, including callees, and self time
	children    map[string]*node
}

// tree merges the stacks of a profile, starting at their outermost callers.
func tree(p *Profile) *node {
	root := &node{children: map[string]*node{}}
	for _, s := range p.Sample {
		at, value := root, s.Value[0]
		at.value += value
		for _, f := range framesOf(s) {
			next := at.children[f.Name]
			if next == nil {
				next = &node{frame: f, children: map[string]*node{}}
				at.children[f.Name] = next
			}
			next.value += value
			at = next
		}
		at.self += value
	}
	return root
}

// box is a node's position: x and width as fractions of the whole, depth from 0 at the outermost
// callers.
type box struct {
	*node
	x, width float64
	depth    int
}

// smallest is the fraction below which a box would be thinner than a pixel.
const smallest = 0.001

// mostBoxes is the maximum number of boxes; the thinnest are omitted.
const mostBoxes = 20_000

// layout positions the boxes; children are sorted by name, so that pictures of similar profiles
// look alike.
func layout(root *node) (boxes []box, depth int) {
	whole := float64(root.value)
	var place func(n *node, x float64, d int)
	place = func(n *node, x float64, d int) {
		for _, name := range slices.Sorted(maps.Keys(n.children)) {
			k := n.children[name]
			w := float64(k.value) / whole
			if w >= smallest {
				boxes = append(boxes, box{k, x, w, d})
				depth = max(depth, d+1)
				place(k, x, d+1)
			}
			x += w
		}
	}
	if whole > 0 {
		place(root, 0, 0)
	}
	if len(boxes) > mostBoxes {
		list.Sort(boxes, func(a, b box) int { return cmp.Compare(b.width, a.width) })
		boxes = boxes[:mostBoxes]
	}
	return boxes, depth
}

// Dimensions of a flame graph, in units of its viewBox.
const (
	flameWidth = 1200.0
	rowHeight  = 18
	letter     = 6.7 // mean width of a character of 11 units
)

//go:embed flame.css
var flameCSS string

// FlameStyle returns the style sheet for flame graphs within a page.
func FlameStyle() string { return flameCSS }

// Flame draws a profile as a flame graph for a page that includes FlameStyle: names and shares
// appear on hover. The caption explains how to read it.
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

// WeightOf describes the total of a profile: "1.50 s of cpu-clock".
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

func drawBox(out *strings.Builder, b box, root *node, height int) {
	whole := float64(root.value)
	x, w, y := b.x*flameWidth, b.width*flameWidth, height-(b.depth+1)*rowHeight
	about := fmt.Sprintf("%s: %s, itself %s", fullName(b.frame), show.Percent(100*float64(b.value)/whole), show.Percent(100*float64(b.self)/whole))
	fmt.Fprintf(out, `<g class="f"><title>%s</title><rect x="%.2f" y="%d" width="%.2f" height="%d" %s/><text x="%.2f" y="%d">%s</text></g>`+"\n",
		escape(about), x, y, max(w-0.5, 0.3), rowHeight-1, warm(b.frame), x+3, y+12, escape(fitted(show.Clean(b.frame.Name), w)))
}

// fitted truncates a name to the width of a box.
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

// warm colours a function by its name: the hue only distinguishes neighbours.
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

package profile

import (
	"cmp"
	"maps"
	"slices"
)

// node is a function as called through one chain: a box of a flame graph.
type node struct {
	frame       Frame
	value, self int64 // with everything it calls, and without
	children    map[string]*node
}

// tree puts the stacks of a profile together from their outermost callers on.
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

// box is a node's place: x and width as shares of the whole, depth from 0 at
// the outermost callers.
type box struct {
	*node
	x, width float64
	depth    int
}

// smallest is the share below which a box would be thinner than a pixel.
const smallest = 0.001

// mostBoxes bounds a picture; what is left out are the thinnest.
const mostBoxes = 20_000

// layout places the boxes; children stand in the order of their names, so that two
// pictures of like profiles look alike.
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
		slices.SortStableFunc(boxes, func(a, b box) int { return cmp.Compare(b.width, a.width) })
		boxes = boxes[:mostBoxes]
	}
	return boxes, depth
}

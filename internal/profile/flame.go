package profile

import (
	"cmp"
	"math"
	"slices"
)

// node is a function as called through one chain: a box of a flame graph.
type node struct {
	frame    Frame
	value    [2]int64 // with everything it calls; before and after
	self     [2]int64
	children map[string]*node
}

// tree puts the stacks of one profile, or of two beside each other, together
// from their outermost callers on.
func tree(profiles ...*Profile) *node {
	root := &node{children: map[string]*node{}}
	for i, p := range profiles {
		for _, s := range p.Stacks {
			at := root
			at.value[i] += s.Value
			for _, f := range s.Frames {
				next := at.children[f.Name]
				if next == nil {
					next = &node{frame: f, children: map[string]*node{}}
					at.children[f.Name] = next
				}
				next.value[i] += s.Value
				at = next
			}
			at.self[i] += s.Value
		}
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

// layout places the boxes, wide by the values of profile i; children stand in
// the order of their names, so that two pictures of like profiles look alike.
func layout(root *node, i int) (boxes []box, depth int) {
	whole := float64(root.value[i])
	var place func(n *node, x float64, d int)
	place = func(n *node, x float64, d int) {
		kids := make([]*node, 0, len(n.children))
		for _, k := range n.children {
			kids = append(kids, k)
		}
		slices.SortFunc(kids, func(a, b *node) int { return cmp.Compare(a.frame.Name, b.frame.Name) })
		for _, k := range kids {
			w := float64(k.value[i]) / whole
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

// share is a node's part of profile i, in percent; own for itself alone.
func (n *node) share(root *node, i int, own bool) float64 {
	v := n.value[i]
	if own {
		v = n.self[i]
	}
	return percentOf(v, float64(root.value[i]))
}

// selfPoints is how much more of the second profile than of the first the
// function itself takes in this chain, in percentage points.
func (n *node) selfPoints(root *node) float64 {
	return n.share(root, 1, true) - n.share(root, 0, true)
}

// largestMove is the scale of a differential graph's colours.
func largestMove(n, root *node) float64 {
	most := math.Abs(n.selfPoints(root))
	for _, k := range n.children {
		most = max(most, largestMove(k, root))
	}
	return most
}

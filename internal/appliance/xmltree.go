package appliance

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"linerate/internal/list"
)

// node is one element of an XML configuration.
type node struct {
	name     string
	text     string
	line     int
	id       string // its uuid, by which other elements refer to it
	children []*node
}

// maxNodes is the maximum number of elements of a configuration; large ones have some ten thousand.
const maxNodes = 500_000

// parseXML parses as much of a text as it can; the error says where it stopped. It does not expand
// entities other than XML's own five, and does not read a document type: they are errors.
func parseXML(text string) (*node, error) {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = false // parts of the text may have been redacted
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	root := &node{}
	open := []*node{root}
	for n := 0; ; n++ {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return root, nil
		}
		line, _ := d.InputPos()
		if err != nil {
			return root, fmt.Errorf("line %d: %w", line, err)
		}
		at := open[len(open)-1]
		switch t := t.(type) {
		case xml.StartElement:
			if len(open) > maxDepth || n > maxNodes {
				return root, fmt.Errorf("line %d: more than %d elements, or nested more than %d deep", line, maxNodes, maxDepth)
			}
			child := &node{name: t.Name.Local, line: line}
			for _, a := range t.Attr {
				if a.Name.Local == "uuid" {
					child.id = a.Value
				}
			}
			at.children = append(at.children, child)
			open = append(open, child)
		case xml.EndElement:
			if len(open) > 1 {
				open = open[:len(open)-1]
			}
		case xml.CharData:
			if len(at.text) < maxText {
				at.text += string(t)
			}
		case xml.Directive:
			return root, fmt.Errorf("line %d: a document type, which no product writes", line)
		}
	}
}

// maxText is the maximum length of an element's text that is used.
const maxText = 4096

// at returns the elements at a path of names, in order.
func (n *node) at(path ...string) []*node {
	if n == nil {
		return nil
	}
	found := []*node{n}
	for _, name := range path {
		var next []*node
		for _, f := range found {
			next = append(next, list.Filter(f.children, func(c *node) bool { return strings.EqualFold(c.name, name) })...)
		}
		found = next
	}
	return found
}

// first returns the first element at a path, nil if there is none.
func (n *node) first(path ...string) *node {
	if all := n.at(path...); len(all) > 0 {
		return all[0]
	}
	return nil
}

// value returns an element's text, "" for nil.
func (n *node) value() string {
	if n == nil {
		return ""
	}
	return strings.TrimSpace(n.text)
}

// has reports whether an element has a child with one of the names.
func (n *node) has(names ...string) bool {
	return n != nil && slices.ContainsFunc(n.children, func(c *node) bool { return slices.Contains(names, c.name) })
}

package appliance

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// node is one element of a configuration in XML.
type node struct {
	name     string
	text     string
	line     int
	id       string // its uuid, by which other elements name it
	children []*node
}

// maxNodes bounds the elements of one configuration; large ones have some ten
// thousands.
const maxNodes = 500_000

// parseXML reads what it can of a text; the error says where it ended. Entities
// other than XML's own five are not replaced, and a document type is not read: what is
// beyond them is an error.
func parseXML(text string) (*node, error) {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = false // a text of which parts were left out
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
				return root, fmt.Errorf("line %d: more than %d elements, or more than %d within each other", line, maxNodes, maxDepth)
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

// maxText bounds the text of an element that is looked at.
const maxText = 4096

// at are the elements of a path of names, in order.
func (n *node) at(path ...string) []*node {
	if n == nil {
		return nil
	}
	found := []*node{n}
	for _, name := range path {
		var next []*node
		for _, f := range found {
			for _, c := range f.children {
				if strings.EqualFold(c.name, name) {
					next = append(next, c)
				}
			}
		}
		found = next
	}
	return found
}

// first is the first element of a path, nil where there is none.
func (n *node) first(path ...string) *node {
	if all := n.at(path...); len(all) > 0 {
		return all[0]
	}
	return nil
}

// value is an element's text; "" of none.
func (n *node) value() string {
	if n == nil {
		return ""
	}
	return strings.TrimSpace(n.text)
}

// has reports an element that has a child of one of the names.
func (n *node) has(names ...string) bool {
	return n != nil && slices.ContainsFunc(n.children, func(c *node) bool { return slices.Contains(names, c.name) })
}

package schema

import (
	"bytes"
	"encoding/json"
)

// Node is a part of a schema: of its keywords those that Maker needs.
type Node struct {
	Schema      string     `json:"$schema,omitempty"`
	ID          string     `json:"$id,omitempty"`
	Title       string     `json:"title,omitempty"`
	Description string     `json:"description,omitempty"`
	Ref         string     `json:"$ref,omitempty"`
	Type        any        `json:"type,omitempty"` // a name, or several
	Format      string     `json:"format,omitempty"`
	Pattern     string     `json:"pattern,omitempty"`
	Minimum     *float64   `json:"minimum,omitempty"`
	Enum        []string   `json:"enum,omitempty"`
	Items       *Node      `json:"items,omitempty"`
	AnyOf       []*Node    `json:"anyOf,omitempty"`
	AllOf       []*Node    `json:"allOf,omitempty"`
	Properties  Properties `json:"properties,omitempty"`
	Required    []string   `json:"required,omitempty"`
	// Others is what members without a name here may be: a Node, false for none,
	// nil for anything.
	Others      any              `json:"additionalProperties,omitempty"`
	Definitions map[string]*Node `json:"definitions,omitempty"`
}

// Property is a member of an object.
type Property struct {
	Name string
	Node *Node
}

// Properties are members in the order in which they are written.
type Properties []Property

// MarshalJSON writes them in that order.
func (p Properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range p {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(m.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.Node)
		if err != nil {
			return nil, err
		}
		b.Write(append(append(name, ':'), value...))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Text is the schema as a file has it.
func (n *Node) Text() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(n); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

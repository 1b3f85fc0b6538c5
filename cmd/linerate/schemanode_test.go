package main

import (
	"bytes"
	"encoding/json"
)

// schemaNode is a part of a schema, with the keywords that schemaMaker needs.
type schemaNode struct {
	Schema      string           `json:"$schema,omitempty"`
	ID          string           `json:"$id,omitempty"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	Ref         string           `json:"$ref,omitempty"`
	Type        any              `json:"type,omitempty"` // one name, or a list
	Format      string           `json:"format,omitempty"`
	Pattern     string           `json:"pattern,omitempty"`
	Minimum     *float64         `json:"minimum,omitempty"`
	Enum        []string         `json:"enum,omitempty"`
	Items       *schemaNode      `json:"items,omitempty"`
	AnyOf       []*schemaNode    `json:"anyOf,omitempty"`
	AllOf       []*schemaNode    `json:"allOf,omitempty"`
	Properties  schemaProperties `json:"properties,omitempty"`
	Required    []string         `json:"required,omitempty"`
	// Others is the schema of members that are not in Properties: a schemaNode, false for none, nil
	// for anything.
	Others      any                    `json:"additionalProperties,omitempty"`
	Definitions map[string]*schemaNode `json:"definitions,omitempty"`
}

// schemaProperty is one member of an object.
type schemaProperty struct {
	Name string
	Node *schemaNode
}

// schemaProperties are members in the order of the type.
type schemaProperties []schemaProperty

// MarshalJSON writes the members in that order.
func (p schemaProperties) MarshalJSON() ([]byte, error) {
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

// Text returns the schema as the text of a file.
func (n *schemaNode) Text() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(n); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

package main

import (
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Draft is the schemas' dialect: the newest that all editors support.
const Draft = "http://json-schema.org/draft-07/schema#"

// schemaMaker makes the schemas of types with the same struct tags.
type schemaMaker struct {
	// Tag is the struct tag, json or yaml.
	Tag string
	// Closed refuses members that the type does not have.
	Closed bool
	// Comment returns the comment of a type or field, "" if there is none.
	Comment func(t reflect.Type, field string) string
	// Constants returns the named values of a string type; nil allows any string.
	Constants func(t reflect.Type) []string
	// Known are the schemas of types that marshal themselves in a special form.
	Known map[reflect.Type]*schemaNode
	// Words lists the allowed values of a field, by TYPE.Field: study.Goal.Metric.
	Words map[string][]string
	// Required lists by TYPE the members without which a file is refused. In documents every
	// member without omitempty is required.
	Required map[string][]string
	// Reference, if set, is a pattern of text that may stand for a number or a choice until the
	// file has been read.
	Reference string
	// Kin are further structs from which a joined type (Shaped) takes the comments of its fields.
	Kin map[reflect.Type][]reflect.Type

	defs  map[string]*schemaNode
	types map[string]reflect.Type
}

// shaped is a type that has the members of another struct (yamlfile.Shaped).
type shaped interface{ Shape() reflect.Type }

// Of returns the schema of a value that has one of several types.
func (m *schemaMaker) Of(id, title string, types ...reflect.Type) (*schemaNode, error) {
	m.defs, m.types = map[string]*schemaNode{}, map[string]reflect.Type{}
	root := &schemaNode{}
	for _, t := range types {
		n, err := m.node(t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", title, err)
		}
		root.AnyOf = append(root.AnyOf, n)
	}
	if len(root.AnyOf) == 1 {
		root = &schemaNode{AllOf: root.AnyOf}
	}
	root.Schema, root.ID, root.Title, root.Definitions = Draft, id, title, m.defs
	return root, nil
}

var (
	marshaler       = reflect.TypeFor[json.Marshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	when            = reflect.TypeFor[time.Time]()
	raw             = reflect.TypeFor[json.RawMessage]()
)

// node returns the schema of a value of a type.
func (m *schemaMaker) node(t reflect.Type) (*schemaNode, error) {
	if known, ok := m.Known[t]; ok {
		n := *known
		return &n, nil
	}
	switch {
	case t == when:
		return &schemaNode{Type: "string", Format: "date-time"}, nil
	case m.Tag == "yaml" && reflect.PointerTo(t).Implements(textUnmarshaler):
		return m.text(), nil
	case t == raw || t.Kind() == reflect.Interface:
		return &schemaNode{}, nil
	case t.Kind() == reflect.Pointer:
		n, err := m.node(t.Elem())
		if err != nil || m.Tag == "yaml" {
			return n, err
		}
		return nullable(n), nil
	case t.Kind() == reflect.Struct && (!t.Implements(textMarshaler) || t.Implements(marshaler)):
		return m.object(t)
	case t.Implements(textMarshaler):
		return &schemaNode{Type: "string"}, nil
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return m.list(t)
	case reflect.Map:
		value, err := m.node(t.Elem())
		return &schemaNode{Type: "object", Others: value}, err
	case reflect.Bool:
		return &schemaNode{Type: "boolean"}, nil
	case reflect.String:
		return m.word(t), nil
	case reflect.Float32, reflect.Float64:
		return m.orReference(&schemaNode{Type: "number"}), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return m.orReference(&schemaNode{Type: "integer", Minimum: new(float64)}), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return m.orReference(&schemaNode{Type: "integer"}), nil
	}
	return nil, fmt.Errorf("no schema of %s", t)
}

// text is the schema of a string; in a file it may also be an unquoted number or boolean.
func (m *schemaMaker) text() *schemaNode {
	if m.Tag == "yaml" {
		return &schemaNode{Type: []string{"string", "number", "boolean"}}
	}
	return &schemaNode{Type: "string"}
}

// word is the schema of a string that must be one of a type's constants, if it has any.
func (m *schemaMaker) word(t reflect.Type) *schemaNode {
	if m.Constants != nil && t.Name() != "string" {
		if words := m.Constants(t); len(words) > 0 {
			return m.orReference(&schemaNode{Enum: words})
		}
	}
	return m.text()
}

// orReference also allows a reference that is replaced when the file is read.
func (m *schemaMaker) orReference(n *schemaNode) *schemaNode {
	if m.Reference == "" {
		return n
	}
	return &schemaNode{AnyOf: []*schemaNode{n, {Type: "string", Pattern: m.Reference}}}
}

func nullable(n *schemaNode) *schemaNode { return &schemaNode{AnyOf: []*schemaNode{n, {Type: "null"}}} }

func (m *schemaMaker) list(t reflect.Type) (*schemaNode, error) {
	if t.Elem().Kind() == reflect.Uint8 && m.Tag == "json" {
		return &schemaNode{Type: "string"}, nil // base64
	}
	items, err := m.node(t.Elem())
	n := &schemaNode{Type: "array", Items: items}
	if m.Tag == "json" && t.Kind() == reflect.Slice {
		n.Type = []string{"array", "null"} // a nil slice
	}
	return n, err
}

// object returns a reference to a struct's definition, or the definition itself if the struct has no name.
func (m *schemaMaker) object(t reflect.Type) (*schemaNode, error) {
	name := nameOf(t)
	if name == "" {
		return m.fields(t, t)
	}
	if other, ok := m.types[name]; ok && other != t {
		return nil, fmt.Errorf("%s and %s.%s have one name", other.PkgPath(), t.PkgPath(), t.Name())
	}
	ref := &schemaNode{Ref: "#/definitions/" + strings.ReplaceAll(name, "/", "~1")}
	if _, ok := m.types[name]; ok {
		return ref, nil
	}
	m.types[name], m.defs[name] = t, &schemaNode{}
	of := t
	if s, ok := reflect.Zero(t).Interface().(shaped); ok {
		of = s.Shape()
	}
	n, err := m.fields(of, t)
	if err != nil {
		return nil, err
	}
	n.Description = m.comment(t, "")
	*m.defs[name] = *n
	return ref, nil
}

// nameOf returns a type's short name: package.Type.
func nameOf(t reflect.Type) string {
	if t.Name() == "" {
		return ""
	}
	return path.Base(t.PkgPath()) + "." + t.Name()
}

// fields returns the schema of a struct's members; owner is the type that declares them.
func (m *schemaMaker) fields(t, owner reflect.Type) (*schemaNode, error) {
	n := &schemaNode{Type: "object", Others: !m.Closed}
	if !m.Closed {
		n.Others = nil
	}
	own := m.Tag == "json" && owner.Implements(marshaler) // its MarshalJSON may leave out embedded members
	for _, f := range members(t, m.Tag, owner) {
		v, err := m.node(f.Type)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", t, f.Name, err)
		}
		if words := m.Words[nameOf(f.owner)+"."+f.Name]; words != nil {
			v = m.orReference(&schemaNode{Enum: words})
			if f.Type.Kind() == reflect.Slice {
				v = &schemaNode{Type: "array", Items: v}
			}
		}
		if v.Ref != "" { // draft-07 ignores keywords next to $ref
			v = &schemaNode{AllOf: []*schemaNode{v}}
		}
		v.Description = m.comment(f.owner, f.Name)
		n.Properties = append(n.Properties, schemaProperty{f.key, v})
		if m.Tag == "json" && !f.omit && !(own && f.embedded) {
			n.Required = append(n.Required, f.key)
		}
	}
	n.Required = append(n.Required, m.Required[nameOf(owner)]...)
	return n, nil
}

func (m *schemaMaker) comment(t reflect.Type, field string) string {
	if m.Comment == nil {
		return ""
	}
	text := m.Comment(t, field)
	for _, kin := range m.Kin[t] {
		if text == "" && field != "" {
			text = m.Comment(kin, field)
		}
	}
	return text
}

// member is a field as a document shows it.
type member struct {
	reflect.StructField
	key            string
	owner          reflect.Type // the struct that declares it
	omit, embedded bool
}

// members returns the members of a struct, including those of embedded structs unless its own
// hide them.
func members(t reflect.Type, tag string, owner reflect.Type) (out []member) {
	for i := range t.NumField() {
		f := t.Field(i)
		key, options, _ := strings.Cut(f.Tag.Get(tag), ",")
		_, tagged := f.Tag.Lookup(tag)
		in := f.Type
		if in.Kind() == reflect.Pointer {
			in = in.Elem()
		}
		switch {
		case key == "-":
		case in.Kind() == reflect.Struct && (f.Anonymous && key == "" || options == "inline"):
			for _, e := range members(in, tag, in) {
				e.embedded = true
				out = append(out, e)
			}
		case !f.IsExported() || tag == "yaml" && !tagged:
		default:
			omit := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
			out = append(out, member{f, cmp.Or(key, f.Name), owner, omit, false})
		}
	}
	return slices.DeleteFunc(out, func(e member) bool {
		return e.embedded && slices.ContainsFunc(out, func(o member) bool { return !o.embedded && o.key == e.key })
	})
}

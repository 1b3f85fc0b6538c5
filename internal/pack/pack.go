// Package pack writes Go values as a few bytes and reads them back fast: for
// data built into the binary that every start reads. Fields that are zero
// take no room, equal texts one place, and nothing is converted. It is no
// format to keep: Fingerprint tells whether bytes were written by the same
// types. For anything that outlives a build use JSON.
package pack

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Marshal packs a value: structs (unexported fields must be zero), pointers, slices, maps by
// text, numbers, texts, booleans, and types that marshal to text. Anything else is an
// error. Fields with the tag `pack:"-"` are left out.
func Marshal(v any) ([]byte, error) {
	e := encoder{at: map[string]int{}}
	if err := e.value(reflect.ValueOf(v)); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	head := binary.AppendUvarint(nil, uint64(len(e.texts)))
	for _, s := range e.texts {
		head = binary.AppendUvarint(head, uint64(len(s)))
	}
	for _, s := range e.texts {
		head = append(head, s...)
	}
	return append(head, e.out...), nil
}

// Seal is Marshal behind the fingerprint of the value's type, for Open.
func Seal[T any](v T) ([]byte, error) {
	b, err := Marshal(v)
	if err != nil {
		return nil, err
	}
	return append(heading[T](), b...), nil
}

// Open reads what Seal wrote of a value; ok is false where that was one of another shape,
// or nothing.
func Open[T any](b []byte) (v T, ok bool) {
	if b, ok = bytes.CutPrefix(b, heading[T]()); ok {
		ok = Unmarshal(b, &v) == nil
	}
	return v, ok
}

func heading[T any]() []byte {
	return binary.LittleEndian.AppendUint64(nil, Fingerprint(reflect.TypeFor[T]()))
}

type encoder struct {
	texts []string
	at    map[string]int
	out   []byte
}

func (e *encoder) uint(n uint64) { e.out = binary.AppendUvarint(e.out, n) }

func (e *encoder) text(s string) {
	i, ok := e.at[s]
	if !ok {
		i = len(e.texts)
		e.at[s] = i
		e.texts = append(e.texts, s)
	}
	e.uint(uint64(i))
}

// marshaller reports a type that packs as its text.
func marshaller(t reflect.Type) bool {
	return t.Kind() != reflect.Interface && t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) && reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// leftOut reports a field that is not packed.
func leftOut(f reflect.StructField) bool { return f.Tag.Get("pack") == "-" }

func (e *encoder) value(v reflect.Value) error {
	if marshaller(v.Type()) {
		b, err := v.Interface().(encoding.TextMarshaler).MarshalText()
		e.text(string(b))
		return err
	}
	switch v.Kind() {
	case reflect.Bool:
		e.bool(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.out = binary.AppendVarint(e.out, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		e.uint(v.Uint())
	case reflect.Float64:
		e.out = binary.LittleEndian.AppendUint64(e.out, math.Float64bits(v.Float()))
	case reflect.String:
		e.text(v.String())
	case reflect.Pointer:
		e.bool(!v.IsNil())
		if !v.IsNil() {
			return e.value(v.Elem())
		}
	case reflect.Slice:
		return e.slice(v)
	case reflect.Map:
		return e.table(v)
	case reflect.Struct:
		return e.fields(v)
	default:
		return fmt.Errorf("cannot pack a %s", v.Type())
	}
	return nil
}

func (e *encoder) bool(b bool) {
	if b {
		e.uint(1)
		return
	}
	e.uint(0)
}

// slice writes the length and one, 0 for nil, then the elements.
func (e *encoder) slice(v reflect.Value) error {
	if v.IsNil() {
		e.uint(0)
		return nil
	}
	e.uint(uint64(v.Len()) + 1)
	for i := range v.Len() {
		if err := e.value(v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// table writes a map as slice does, by key.
func (e *encoder) table(v reflect.Value) error {
	if v.Type().Key().Kind() != reflect.String {
		return fmt.Errorf("cannot pack a %s", v.Type())
	}
	if v.IsNil() {
		e.uint(0)
		return nil
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	e.uint(uint64(len(keys)) + 1)
	for _, k := range keys {
		e.text(k.String())
		if err := e.value(v.MapIndex(k)); err != nil {
			return err
		}
	}
	return nil
}

// fields writes the number of fields that are not zero, and each with its
// place in the type.
func (e *encoder) fields(v reflect.Value) error {
	var set []int
	for i := range v.NumField() {
		if v.Field(i).IsZero() || leftOut(v.Type().Field(i)) {
			continue
		}
		if f := v.Type().Field(i); !f.IsExported() {
			return fmt.Errorf("cannot pack the field %s", f.Name)
		}
		set = append(set, i)
	}
	e.uint(uint64(len(set)))
	for _, i := range set {
		e.uint(uint64(i))
		if err := e.value(v.Field(i)); err != nil {
			return fmt.Errorf("%s: %w", v.Type().Field(i).Name, err)
		}
	}
	return nil
}

// errBytes is what bytes give that were not written by Marshal of such a
// value.
var errBytes = errors.New("pack: not the bytes of such a value")

// Fingerprint is a number of a type's shape: other names, kinds or order of
// its fields, at any depth, give another.
func Fingerprint(t reflect.Type) uint64 {
	h := fnv.New64a()
	seen := map[reflect.Type]bool{}
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		fmt.Fprintf(h, "%s %s;", t.Kind(), t.Name())
		if seen[t] || marshaller(t) {
			return
		}
		seen[t] = true
		switch t.Kind() {
		case reflect.Struct:
			for i := range t.NumField() {
				if f := t.Field(i); !leftOut(f) {
					fmt.Fprintf(h, "%d %s:", i, f.Name)
					walk(f.Type)
				}
			}
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(t.Elem())
		}
	}
	walk(t)
	return h.Sum64()
}

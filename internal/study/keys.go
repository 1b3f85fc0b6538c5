package study

import (
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Studies, workloads, variants, parts, gates and observations have the keys of kinds beside
// those of all. In a file they stand side by side: what is read and written is a
// struct joined of both, so that a kind adds keys without a line here. They stand
// where the field Own does, or after the key that a tag of theirs names:
//
//	Served *Served `json:"served,omitempty" after:"uncounted"`

// Keys are what a kind adds to the keys (yaml) of a study, its workload, its variants
// and its parts: pointers to structs, all zero, or nil. Own is one of them, or nil.
type Keys struct{ Study, Workload, Variant, Part any }

// What reflection found before is kept: a file has hundreds of settings of the same few
// types. joins are by what join was given, keyed by [the type, the tag], pairs by [to, from, the tag].
var joins, keyed, pairs sync.Map

// join is a struct type with the fields of several that have a key in a tag, each
// key once.
func join(tag string, common reflect.Type, own ...reflect.Type) reflect.Type {
	of := tag
	for _, t := range append(own[:len(own):len(own)], common) {
		of += strconv.FormatUint(uint64(reflect.ValueOf(t).Pointer()), 36) + " "
	}
	known, ok := joins.Load(of)
	if !ok {
		known, _ = joins.LoadOrStore(of, newJoin(tag, common, own...))
	}
	return known.(reflect.Type)
}

func newJoin(tag string, common reflect.Type, own ...reflect.Type) reflect.Type {
	var fields []reflect.StructField
	seen := map[string]bool{}
	after := map[string][]reflect.StructField{} // a key, "" of those at Own's place
	for _, t := range own {
		for _, f := range keysIn(t, tag) {
			at := f.Tag.Get("after")
			after[at] = append(after[at], f)
		}
	}
	var add func(f reflect.StructField)
	add = func(f reflect.StructField) {
		key := keyOf(f, tag)
		if !seen[key] {
			seen[key] = true
			fields = append(fields, reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag})
		}
		for _, o := range after[key] {
			add(o)
		}
	}
	for i := range common.NumField() {
		switch f := common.Field(i); {
		case f.Name == "Own":
			for _, o := range after[""] {
				add(o)
			}
		case keyOf(f, tag) != "":
			add(f)
		}
	}
	return reflect.StructOf(fields)
}

// keysIn are a struct's fields that have a key, embedded structs' among them. They are not
// the caller's to change.
func keysIn(t reflect.Type, tag string) (fields []reflect.StructField) {
	of := [2]any{t, tag}
	if known, ok := keyed.Load(of); ok {
		return known.([]reflect.StructField)
	}
	defer func() { keyed.Store(of, fields) }()
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case f.Anonymous:
			fields = append(fields, keysIn(f.Type, tag)...)
		case keyOf(f, tag) != "":
			fields = append(fields, f)
		}
	}
	return fields
}

// keyOf is a field's key; "" of one that has none.
func keyOf(f reflect.StructField, tag string) string {
	key, _, _ := strings.Cut(f.Tag.Get(tag), ",")
	if key == "-" {
		return ""
	}
	return key
}

// share copies the fields that two structs have by the same key.
func share(tag string, to, from reflect.Value) {
	of := [3]any{to.Type(), from.Type(), tag}
	known, ok := pairs.Load(of)
	if !ok {
		known, _ = pairs.LoadOrStore(of, newPairs(tag, to.Type(), from.Type()))
	}
	for _, p := range known.([]pair) {
		to.FieldByIndex(p.to).Set(from.FieldByIndex(p.from))
	}
}

// pair is where two structs have the same key.
type pair struct{ to, from []int }

func newPairs(tag string, to, from reflect.Type) (all []pair) {
	for _, f := range keysIn(from, tag) {
		for _, t := range keysIn(to, tag) {
			if keyOf(f, tag) == keyOf(t, tag) {
				at, _ := to.FieldByName(t.Name)
				of, _ := from.FieldByName(f.Name)
				all = append(all, pair{at.Index, of.Index})
			}
		}
	}
	return all
}

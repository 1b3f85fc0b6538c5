package study

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// owned are the structs of the kinds that add keys, all zero.
func owned(of func(Kind) any) (all []reflect.Type) {
	for _, k := range kinds {
		own := of(k)
		if own == nil {
			continue
		}
		if t := reflect.TypeOf(own).Elem(); !slices.Contains(all, t) { // one kind may build on another
			all = append(all, t)
		}
	}
	return all
}

// readAll reads both: common is a pointer to the keys of all. It returns pointers to
// those of the structs that have a key, in their order.
func readAll(tag string, common any, owned []reflect.Type, decode func(any) error) (given []any, err error) {
	c := reflect.ValueOf(common).Elem()
	from := reflect.New(join(tag, c.Type(), owned...))
	if err := decode(from.Interface()); err != nil {
		return nil, err
	}
	share(tag, c, from.Elem())
	for _, t := range owned {
		v := reflect.New(t)
		if share(tag, v.Elem(), from.Elem()); !v.Elem().IsZero() {
			given = append(given, v.Interface())
		}
	}
	return given, nil
}

// read is readAll of the kinds' structs, of which one alone may have a key: own.
func read(tag string, common any, own *any, of func(Kind) any, decode func(any) error) error {
	all, err := readAll(tag, common, owned(of), decode)
	switch *own = nil; {
	case len(all) > 1:
		return fmt.Errorf("%s and %s are keys of two kinds of parts: a part has those of one", given(tag, all[0]), given(tag, all[1]))
	case len(all) == 1:
		*own = all[0]
	}
	return err
}

// given is the first of a kind's keys that is there.
func given(tag string, own any) string {
	v := reflect.ValueOf(own).Elem()
	for _, f := range keysIn(v.Type(), tag) {
		if !v.FieldByName(f.Name).IsZero() {
			return keyOf(f, tag)
		}
	}
	return ""
}

// joined is what is written of both.
func joined(tag string, common any, own ...any) any {
	c := reflect.ValueOf(common)
	given, types := []reflect.Value{c}, []reflect.Type(nil)
	for _, o := range own {
		if o != nil {
			v := reflect.ValueOf(o).Elem()
			given, types = append(given, v), append(types, v.Type())
		}
	}
	if types == nil {
		return common
	}
	out := reflect.New(join(tag, c.Type(), types...)).Elem()
	for _, v := range given {
		share(tag, out, v)
	}
	return out.Interface()
}

// The same types without methods.
type (
	specKeys        Spec
	workloadKeys    Workload
	variantKeys     Variant
	partKeys        Part
	gatesKeys       Gates
	observationKeys Observation
)

func ofStudy(k Kind) any    { return k.Keys().Study }
func ofWorkload(k Kind) any { return k.Keys().Workload }
func ofVariant(k Kind) any  { return k.Keys().Variant }
func ofPart(k Kind) any     { return k.Keys().Part }

func shape[T any](of func(Kind) any) reflect.Type {
	return join("yaml", reflect.TypeFor[T](), owned(of)...)
}

// Shape is a study's keys, of whatever kind (yamlfile.Shaped).
func (Spec) Shape() reflect.Type { return shape[specKeys](ofStudy) }

// Shape is a workload's keys.
func (Workload) Shape() reflect.Type { return shape[workloadKeys](ofWorkload) }

// Shape is a variant's keys.
func (Variant) Shape() reflect.Type { return shape[variantKeys](ofVariant) }

// Shape is a part's keys.
func (Part) Shape() reflect.Type { return shape[partKeys](ofPart) }

// Shape is the limits' keys.
func (Gates) Shape() reflect.Type { return shape[gatesKeys](Kind.Limits) }

// Shape is an observation's keys (json), of whatever kind.
func (Observation) Shape() reflect.Type {
	return join("json", reflect.TypeFor[observationKeys](), owned(Kind.Saw)...)
}

// UnmarshalYAML reads a study of any kind.
func (s *Spec) UnmarshalYAML(decode func(any) error) error {
	return read("yaml", (*specKeys)(s), &s.Own, ofStudy, decode)
}

// UnmarshalYAML reads a workload of any kind.
func (w *Workload) UnmarshalYAML(decode func(any) error) error {
	return read("yaml", (*workloadKeys)(w), &w.Own, ofWorkload, decode)
}

// UnmarshalYAML reads a variant of any kind's study.
func (v *Variant) UnmarshalYAML(decode func(any) error) error {
	return read("yaml", (*variantKeys)(v), &v.Own, ofVariant, decode)
}

// UnmarshalYAML reads a part of any kind.
func (p *Part) UnmarshalYAML(decode func(any) error) error {
	return read("yaml", (*partKeys)(p), &p.Own, ofPart, decode)
}

// UnmarshalYAML reads the limits of all kinds.
func (g *Gates) UnmarshalYAML(decode func(any) error) (err error) {
	g.Own, err = readAll("yaml", (*gatesKeys)(g), owned(Kind.Limits), decode)
	return err
}

// MarshalYAML writes a study.
func (s Spec) MarshalYAML() (any, error) { return joined("yaml", specKeys(s), s.Own), nil }

// MarshalYAML writes a workload.
func (w Workload) MarshalYAML() (any, error) { return joined("yaml", workloadKeys(w), w.Own), nil }

// MarshalYAML writes a variant.
func (v Variant) MarshalYAML() (any, error) { return joined("yaml", variantKeys(v), v.Own), nil }

// MarshalYAML writes a part.
func (p Part) MarshalYAML() (any, error) { return joined("yaml", partKeys(p), p.Own), nil }

// MarshalYAML writes the limits.
func (g Gates) MarshalYAML() (any, error) { return joined("yaml", gatesKeys(g), g.Own...), nil }

// UnmarshalJSON reads an observation of any kind.
func (o *Observation) UnmarshalJSON(data []byte) error {
	return read("json", (*observationKeys)(o), &o.Own, Kind.Saw, func(v any) error { return json.Unmarshal(data, v) })
}

// MarshalJSON writes it.
func (o Observation) MarshalJSON() ([]byte, error) {
	return json.Marshal(joined("json", observationKeys(o), o.Own))
}

// OwnOf is a kind's struct of keys among what is there; a zero one where there is
// none of it, never nil.
func OwnOf[T any](own any) *T {
	if t, ok := own.(*T); ok && t != nil {
		return t
	}
	return new(T)
}

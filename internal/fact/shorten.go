package fact

import (
	"fmt"
	"reflect"
	"unicode/utf8"
)

// maxValue is the size in bytes above which only both ends of a value are shown: the kernels accept
// no sysctl longer than a page.
const maxValue = 4096

// Shorten removes the middle of a text longer than most bytes, and inserts its length.
func Shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	head, tail := most/2, len(s)-most/8
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return fmt.Sprintf("%s…(%d bytes)…%s", s[:head], len(s), s[tail:])
}

// Shortened returns facts for display: values longer than a page are reduced to both ends. It does
// not change f.
func (f *Facts) Shortened() *Facts {
	g := shortened(reflect.ValueOf(*f)).Interface().(Facts)
	return &g
}

// shortened copies a value, reducing long texts to both ends.
func shortened(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.String:
		out.SetString(Shorten(v.String(), maxValue))
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(shortened(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		}
		for i := range v.Len() {
			out.Index(i).Set(shortened(v.Index(i)))
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMap(v.Type()))
		}
		for _, k := range v.MapKeys() {
			out.SetMapIndex(k, shortened(v.MapIndex(k)))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(shortened(v.Field(i)))
			}
		}
	}
	return out
}

package dump

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// fieldNames are the JSON names of a row's fields, in order.
func fieldNames[T any]() []string {
	t := reflect.TypeFor[T]()
	out := make([]string, t.NumField())
	for i := range out {
		out[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	return out
}

// fields writes a row's values as text; null is empty.
func fields[T any](row *T, n int) []string {
	v := reflect.ValueOf(row).Elem()
	out := make([]string, n)
	for i := range out {
		switch x := v.Field(i).Interface().(type) {
		case string:
			out[i] = x
		case *float64:
			out[i] = number(x)
		case float64:
			out[i] = number(&x)
		case *bool:
			if x != nil {
				out[i] = strconv.FormatBool(*x)
			}
		default:
			out[i] = fmt.Sprint(x)
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

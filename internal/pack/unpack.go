package pack

import (
	"encoding"
	"encoding/binary"
	"math"
	"reflect"
	"sync"
)

// Unmarshal reads what Marshal wrote of a value of the type that into points
// to. The texts of the value share one copy of the bytes. Bytes of anything
// else are an error, never a panic, and take no more memory than a multiple
// of their number.
func Unmarshal(b []byte, into any) error {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return errBytes
	}
	d := decoder{in: string(b)}
	d.readTexts()
	plan(v.Type().Elem())(&d, v.Elem(), 0)
	if d.bad || d.pos != len(d.in) {
		return errBytes
	}
	return nil
}

// maxDepth bounds nesting: interfaces could nest as deep as there are bytes.
const maxDepth = 64

type decoder struct {
	in    string
	pos   int
	texts []string
	bad   bool
}

func (d *decoder) readTexts() {
	n := d.count()
	lengths := make([]int, n)
	for i := range lengths {
		lengths[i] = d.count()
	}
	d.texts = make([]string, n)
	for i, size := range lengths {
		if size > len(d.in)-d.pos {
			d.bad = true
			return
		}
		d.texts[i] = d.in[d.pos : d.pos+size]
		d.pos += size
	}
}

// uint reads a number; 0 after a mistake.
func (d *decoder) uint() uint64 {
	var n uint64
	for shift := 0; !d.bad && d.pos < len(d.in) && shift < 64; shift += 7 {
		b := d.in[d.pos]
		d.pos++
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
	d.bad = true
	return 0
}

// count reads how many things follow: not more than there are bytes.
func (d *decoder) count() int {
	n := d.uint()
	if n > uint64(len(d.in)-d.pos) {
		d.bad = true
		return 0
	}
	return int(n)
}

func (d *decoder) int() int64 {
	n := d.uint()
	return int64(n>>1) ^ -int64(n&1)
}

func (d *decoder) float() float64 {
	if len(d.in)-d.pos < 8 {
		d.bad = true
		return 0
	}
	d.pos += 8
	return math.Float64frombits(binary.LittleEndian.Uint64([]byte(d.in[d.pos-8 : d.pos])))
}

func (d *decoder) text() string {
	i := d.uint()
	if i >= uint64(len(d.texts)) {
		d.bad = true
		return ""
	}
	return d.texts[i]
}

// reader reads one value of a type.
type reader func(d *decoder, v reflect.Value, depth int)

// plans are the readers of types met before.
var plans sync.Map // reflect.Type → reader

func plan(t reflect.Type) reader {
	if p, ok := plans.Load(t); ok {
		return p.(reader)
	}
	// A type that holds itself finds this one while its own is made.
	var made reader
	plans.Store(t, reader(func(d *decoder, v reflect.Value, depth int) {
		if depth > maxDepth {
			d.bad = true
			return
		}
		made(d, v, depth)
	}))
	made = newPlan(t)
	return made
}

func newPlan(t reflect.Type) reader {
	if marshaller(t) {
		return func(d *decoder, v reflect.Value, _ int) {
			if v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(d.text())) != nil {
				d.bad = true
			}
		}
	}
	switch t.Kind() {
	case reflect.Bool:
		return func(d *decoder, v reflect.Value, _ int) { v.SetBool(d.uint() == 1) }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(d *decoder, v reflect.Value, _ int) { v.SetInt(d.int()) }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(d *decoder, v reflect.Value, _ int) { v.SetUint(d.uint()) }
	case reflect.Float64:
		return func(d *decoder, v reflect.Value, _ int) { v.SetFloat(d.float()) }
	case reflect.String:
		return func(d *decoder, v reflect.Value, _ int) { v.SetString(d.text()) }
	case reflect.Pointer:
		return pointerPlan(t)
	case reflect.Slice:
		return slicePlan(t)
	case reflect.Map:
		return mapPlan(t)
	case reflect.Struct:
		return structPlan(t)
	}
	return func(d *decoder, _ reflect.Value, _ int) { d.bad = true }
}

func pointerPlan(t reflect.Type) reader {
	elem := plan(t.Elem())
	return func(d *decoder, v reflect.Value, depth int) {
		if d.uint() == 0 {
			return
		}
		p := reflect.New(t.Elem())
		elem(d, p.Elem(), depth+1)
		v.Set(p)
	}
}

func slicePlan(t reflect.Type) reader {
	elem := plan(t.Elem())
	return func(d *decoder, v reflect.Value, depth int) {
		n := d.uint()
		if n == 0 {
			return
		}
		if n-1 > uint64(len(d.in)-d.pos) { // every element takes a byte
			d.bad = true
			return
		}
		v.Set(reflect.MakeSlice(t, int(n-1), int(n-1)))
		for i := range v.Len() {
			if elem(d, v.Index(i), depth+1); d.bad {
				return
			}
		}
	}
}

func mapPlan(t reflect.Type) reader {
	elem := plan(t.Elem())
	return func(d *decoder, v reflect.Value, depth int) {
		n := d.uint()
		if n == 0 {
			return
		}
		v.Set(reflect.MakeMap(t))
		for range n - 1 {
			key, value := reflect.ValueOf(d.text()), reflect.New(t.Elem()).Elem()
			if elem(d, value, depth+1); d.bad {
				return
			}
			v.SetMapIndex(key.Convert(t.Key()), value)
		}
	}
}

func structPlan(t reflect.Type) reader {
	fields := make([]reader, t.NumField())
	for i := range fields {
		if f := t.Field(i); f.IsExported() && !leftOut(f) {
			fields[i] = plan(f.Type)
		}
	}
	return func(d *decoder, v reflect.Value, depth int) {
		for range d.count() {
			i := d.uint()
			if i >= uint64(len(fields)) || fields[i] == nil {
				d.bad = true
			}
			if d.bad {
				return
			}
			fields[i](d, v.Field(int(i)), depth+1)
		}
	}
}

package dump

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"reflect"

	"github.com/klauspost/compress/zstd"
)

// A Parquet file of flat rows: "PAR1", groups of rows with a page for each column,
// the description of all of it, its length, "PAR1" (Apache Parquet, file format).
// Values are written plainly and compressed by zstd: repeated text costs little so.
// Columns that may be null are pointers in the row.

const parquetMagic = "PAR1"

// groupRows is how many rows are a group: what a reader holds at once.
const groupRows = 100_000

// What of the format's enumerations is written (parquet.thrift).
const (
	typeBoolean, typeInt64, typeDouble, typeBytes = 0, 2, 5, 6
	required, optional                            = 0, 1
	encodingPlain, encodingRLE                    = 0, 3
	convertedUTF8, codecZstd, pageOfData          = 0, 6, 0
)

// column is a field of the rows.
type column struct {
	name     string
	kind     int64
	index    int
	nullable bool
}

// writeParquet writes rows of strings, numbers and booleans.
func writeParquet[T any](w io.Writer, rows []T) error {
	columns, err := columnsOf[T]()
	if err != nil {
		return err
	}
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	defer packer.Close()
	out := &counted{w: w}
	out.Write([]byte(parquetMagic))
	var groups []thrift
	for begin := 0; begin < len(rows); begin += groupRows {
		part := reflect.ValueOf(rows[begin:min(len(rows), begin+groupRows)])
		var chunks []thrift
		total := int64(0)
		for _, c := range columns {
			chunk, size := c.write(out, packer, part)
			chunks = append(chunks, chunk)
			total += size
		}
		var g thrift
		g.list(1, structs, chunks...)
		g.number(2, wide, total)
		g.number(3, wide, int64(part.Len()))
		groups = append(groups, g.end())
	}
	foot := footer(columns, len(rows), groups)
	out.Write(foot)
	out.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(foot))))
	out.Write([]byte(parquetMagic))
	return out.err
}

// columnsOf are the fields of a row, named as in JSON.
func columnsOf[T any]() ([]column, error) {
	t := reflect.TypeFor[T]()
	var out []column
	for i, name := range fieldNames[T]() {
		c, of := column{name: name, index: i}, t.Field(i).Type
		if of.Kind() == reflect.Pointer {
			c.nullable, of = true, of.Elem()
		}
		switch of.Kind() {
		case reflect.Bool:
			c.kind = typeBoolean
		case reflect.Int64:
			c.kind = typeInt64
		case reflect.Float64:
			c.kind = typeDouble
		case reflect.String:
			c.kind = typeBytes
		default:
			return nil, fmt.Errorf("parquet: the field %s is of %s", name, of)
		}
		out = append(out, c)
	}
	return out, nil
}

// footer describes the file (FileMetaData).
func footer(columns []column, rows int, groups []thrift) []byte {
	var root thrift
	root.text(4, "row")
	root.number(5, narrow, int64(len(columns)))
	schema := []thrift{root.end()}
	for _, c := range columns {
		var e thrift
		e.number(1, narrow, c.kind)
		repetition := int64(required)
		if c.nullable {
			repetition = optional
		}
		e.number(3, narrow, repetition)
		e.text(4, c.name)
		if c.kind == typeBytes {
			e.number(6, narrow, convertedUTF8)
		}
		schema = append(schema, e.end())
	}
	var f thrift
	f.number(1, narrow, 1)
	f.list(2, structs, schema...)
	f.number(3, wide, int64(rows))
	f.list(4, structs, groups...)
	f.text(6, "linerate")
	return f.end().b
}

// write writes a column of a group as one page, and describes it (ColumnChunk); size
// is that of the page before compression.
func (c column) write(out *counted, packer *zstd.Encoder, rows reflect.Value) (chunk thrift, size int64) {
	page := c.page(rows)
	packed := packer.EncodeAll(page, nil)
	var data, head thrift
	data.number(1, narrow, int64(rows.Len()))
	data.number(2, narrow, encodingPlain)
	data.number(3, narrow, encodingRLE)
	data.number(4, narrow, encodingRLE)
	head.number(1, narrow, pageOfData)
	head.number(2, narrow, int64(len(page)))
	head.number(3, narrow, int64(len(packed)))
	head.nested(5, data.end())
	header := head.end().b
	at := out.n
	out.Write(header)
	out.Write(packed)
	var name, plain, rle, meta thrift
	name.bytes([]byte(c.name))
	plain.varint(encodingPlain)
	rle.varint(encodingRLE)
	meta.number(1, narrow, c.kind)
	meta.list(2, narrow, plain, rle)
	meta.list(3, binaries, name)
	meta.number(4, narrow, codecZstd)
	meta.number(5, wide, int64(rows.Len()))
	meta.number(6, wide, int64(len(header)+len(page)))
	meta.number(7, wide, int64(len(header)+len(packed)))
	meta.number(9, wide, at)
	chunk.number(2, wide, at)
	chunk.nested(3, meta.end())
	return chunk.end(), int64(len(header) + len(page))
}

// page is a column's values, after which of them there are where some may be null:
// runs of 1 (there) and 0 (null), by their length.
func (c column) page(rows reflect.Value) []byte {
	var b, levels []byte
	bits, run, there := 0, uint64(0), byte(1)
	flush := func() {
		if run > 0 {
			levels = append(binary.AppendUvarint(levels, run<<1), there)
		}
		run = 0
	}
	for i := range rows.Len() {
		v := rows.Index(i).Field(c.index)
		if c.nullable {
			now := byte(1)
			if v.IsNil() {
				now = 0
			}
			if now != there {
				flush()
				there = now
			}
			if run++; now == 0 {
				continue
			}
			v = v.Elem()
		}
		b, bits = c.plain(b, bits, v)
	}
	if !c.nullable {
		return b
	}
	flush()
	return append(append(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels...), b...)
}

// plain appends a value; booleans are bits, of which there are so many already.
func (c column) plain(b []byte, bits int, v reflect.Value) ([]byte, int) {
	switch c.kind {
	case typeBoolean:
		if bits%8 == 0 {
			b = append(b, 0)
		}
		if v.Bool() {
			b[len(b)-1] |= 1 << (bits % 8)
		}
		bits++
	case typeInt64:
		b = binary.LittleEndian.AppendUint64(b, uint64(v.Int()))
	case typeDouble:
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Float()))
	case typeBytes:
		b = append(binary.LittleEndian.AppendUint32(b, uint32(v.Len())), v.String()...)
	}
	return b, bits
}

// counted counts what was written, and keeps the first error.
type counted struct {
	w   io.Writer
	n   int64
	err error
}

func (c *counted) Write(b []byte) {
	if c.err == nil {
		_, c.err = c.w.Write(b)
	}
	c.n += int64(len(b))
}

// thrift is a value in Apache Thrift's compact protocol.
type thrift struct {
	b    []byte
	last int // field of a structure
}

// The protocol's types.
const narrow, wide, binaries, lists, structs = 5, 6, 8, 9, 12

func (t *thrift) field(id, kind int) {
	t.b = append(t.b, byte((id-t.last)<<4|kind)) // fields here are never 16 apart
	t.last = id
}

func (t *thrift) varint(v int64) { t.b = binary.AppendVarint(t.b, v) } // zigzag
func (t *thrift) bytes(text []byte) {
	t.b = append(binary.AppendUvarint(t.b, uint64(len(text))), text...)
}

func (t *thrift) number(id, kind int, v int64) { t.field(id, kind); t.varint(v) }
func (t *thrift) text(id int, text string)     { t.field(id, binaries); t.bytes([]byte(text)) }
func (t *thrift) nested(id int, s thrift)      { t.field(id, structs); t.b = append(t.b, s.b...) }

func (t *thrift) list(id, kind int, items ...thrift) {
	t.field(id, lists)
	n := len(items)
	if n < 15 {
		t.b = append(t.b, byte(n<<4|kind))
	} else {
		t.b = binary.AppendUvarint(append(t.b, byte(0xf0|kind)), uint64(n))
	}
	for _, item := range items {
		t.b = append(t.b, item.b...)
	}
}

// end closes a structure.
func (t *thrift) end() thrift { return thrift{b: append(t.b, 0)} }

// Package pack encodes what is built into the binary and read by every start,
// as CBOR: it decodes a hundred times faster than the YAML it was made from.
// The bytes are not a format to keep: for what outlives a build use JSON.
package pack

import (
	"sync"

	"github.com/fxamacker/cbor/v2"
	"github.com/klauspost/compress/zstd"
)

type modes struct {
	cbor.EncMode
	cbor.DecMode
}

// mode sorts maps, so that equal values give equal bytes, and refuses fields
// that a type does not have.
var mode = sync.OnceValues(func() (m modes, err error) {
	if m.EncMode, err = (cbor.EncOptions{Sort: cbor.SortBytewiseLexical, TextMarshaler: cbor.TextMarshalerTextString}).EncMode(); err != nil {
		return m, err
	}
	m.DecMode, err = cbor.DecOptions{
		TextUnmarshaler: cbor.TextUnmarshalerTextString, FieldNameMatching: cbor.FieldNameMatchingCaseSensitive,
		ExtraReturnErrors: cbor.ExtraDecErrorUnknownField,
	}.DecMode()
	return m, err
})

// Marshal packs a value. Fields with the tag `cbor:"-"` are left out.
func Marshal(v any) ([]byte, error) {
	m, err := mode()
	if err != nil {
		return nil, err
	}
	return m.EncMode.Marshal(v)
}

// Open reads what Marshal wrote of a value; ok is false where that was one
// with other fields, or nothing.
func Open[T any](b []byte) (v T, ok bool) {
	m, err := mode()
	ok = err == nil && m.DecMode.Unmarshal(b, &v) == nil
	return v, ok
}

// maxExpanded bounds what compressed bytes may expand to.
const maxExpanded = 64 << 20

// Compress makes what Expand reads.
func Compress(b []byte) ([]byte, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return z.EncodeAll(b, nil), nil
}

// Expand is what Compress was given.
func Expand(b []byte) ([]byte, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxExpanded))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return z.DecodeAll(b, nil)
}

// Package pack encodes data built into the binary and read at every start, as
// CBOR, which decodes a hundred times faster than the YAML it is made from. It is
// not a storage format: for data that outlives a build use JSON.
package pack

import (
	"sync"

	"github.com/fxamacker/cbor/v2"
	"github.com/klauspost/compress/zstd"
)

// Marshal packs a value. It skips fields with the tag `cbor:"-"`, and sorts maps, so that equal values
// give equal bytes.
func Marshal(v any) ([]byte, error) {
	m, err := cbor.EncOptions{Sort: cbor.SortBytewiseLexical, TextMarshaler: cbor.TextMarshalerTextString}.EncMode()
	if err != nil {
		return nil, err
	}
	return m.Marshal(v)
}

var mode = sync.OnceValues(cbor.DecOptions{
	TextUnmarshaler: cbor.TextUnmarshalerTextString, FieldNameMatching: cbor.FieldNameMatchingCaseSensitive,
	ExtraReturnErrors: cbor.ExtraDecErrorUnknownField,
}.DecMode)

// Open decodes a value packed by Marshal; ok is false if the fields differ or the data is empty.
func Open[T any](b []byte) (v T, ok bool) {
	m, err := mode()
	ok = err == nil && m.Unmarshal(b, &v) == nil
	return v, ok
}

// Map returns a function that decodes a packed and compressed map when it is first called. Damaged
// data gives an empty map: the tests of those who embed it read every entry.
func Map[T any](packed []byte) func() map[string]T {
	return sync.OnceValue(func() map[string]T {
		body, _ := Expand(packed)
		all, _ := Open[map[string]T](body)
		return all
	})
}

// maxExpanded is the maximum size of decompressed data.
const maxExpanded = 64 << 20

// Compress compresses data for Expand.
func Compress(b []byte) ([]byte, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return z.EncodeAll(b, nil), nil
}

// Expand decompresses data compressed by Compress.
func Expand(b []byte) ([]byte, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxExpanded))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return z.DecodeAll(b, nil)
}

// Package schemas holds the JSON Schemas of the files that linerate reads and of the
// documents that it prints, one file each. The tests of cmd/linerate with -update
// generate them from the Go types.
package schemas

import (
	_ "embed"
	"encoding/json"
	"io/fs"
	"maps"
	"slices"

	"linerate/internal/pack"
)

// packed holds all files in one, a tenth of the size. TestSchemas of cmd/linerate generates it.
//
//go:embed schemas.pack
var packed []byte

// texts maps names to schemas.
var texts = pack.Map[[]byte](packed)

// suffix is the suffix of the files' names.
const suffix = ".schema.json"

// Base is the prefix of the schemas' ids: names, not URLs.
const Base = "urn:linerate:schema:"

// Names returns the names of the schemas, sorted.
func Names() []string { return slices.Sorted(maps.Keys(texts())) }

// File returns the file name of a schema.
func File(name string) string { return name + suffix }

// Read returns a schema; fs.ErrNotExist if there is none with that name.
func Read(name string) ([]byte, error) {
	text, ok := texts()[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return text, nil
}

// Title returns a schema's title; "" if it does not exist.
func Title(name string) string {
	var s struct {
		Title string `json:"title"`
	}
	if text, err := Read(name); err != nil || json.Unmarshal(text, &s) != nil {
		return ""
	}
	return s.Title
}

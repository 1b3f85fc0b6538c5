// Package schemas holds the JSON Schemas of the files that linerate reads and of the
// documents that it prints, one file each. They are made of the Go types, by the tests
// of cmd/linerate with -update.
package schemas

import (
	_ "embed"
	"encoding/json"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"linerate/internal/pack"
)

// packed are the files in one, a tenth as large. TestSchemas of cmd/linerate makes it.
//
//go:embed schemas.pack
var packed []byte

// texts are the schemas by name.
var texts = sync.OnceValue(func() map[string][]byte {
	body, _ := pack.Expand(packed) // the test reads each
	texts, _ := pack.Open[map[string][]byte](body)
	return texts
})

// suffix is what the files' names end in.
const suffix = ".schema.json"

// Base is where the schemas' ids begin: names, not places on the net.
const Base = "urn:linerate:schema:"

// Names lists the schemas, sorted.
func Names() []string { return slices.Sorted(maps.Keys(texts())) }

// File is the name of the file of a schema.
func File(name string) string { return name + suffix }

// Read returns a schema; fs.ErrNotExist when there is none of that name.
func Read(name string) ([]byte, error) {
	text, ok := texts()[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return text, nil
}

// Title says what a schema is of; "" of one that is not there.
func Title(name string) string {
	var s struct {
		Title string `json:"title"`
	}
	if text, err := Read(name); err != nil || json.Unmarshal(text, &s) != nil {
		return ""
	}
	return s.Title
}

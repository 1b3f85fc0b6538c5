// Package schemas holds the JSON Schemas of the files that linerate reads and of the
// documents that it prints, one file each. They are made of the Go types, by the tests
// of cmd/linerate with -update.
package schemas

import (
	"embed"
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
)

//go:embed *.json
var files embed.FS

// suffix is what the files' names end in.
const suffix = ".schema.json"

// Base is where the schemas' ids begin: names, not places on the net.
const Base = "urn:linerate:schema:"

// Names lists the schemas, sorted.
func Names() []string {
	paths, err := fs.Glob(files, "*"+suffix)
	if err != nil { // only a malformed pattern, and this one is not
		return nil
	}
	for i, p := range paths {
		paths[i] = strings.TrimSuffix(p, suffix)
	}
	slices.Sort(paths)
	return paths
}

// File is the name of the file of a schema.
func File(name string) string { return name + suffix }

// Read returns a schema; fs.ErrNotExist when there is none of that name.
func Read(name string) ([]byte, error) { return files.ReadFile(File(name)) }

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

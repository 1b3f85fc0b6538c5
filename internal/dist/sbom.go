package dist

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Bill is the list of what binaries are made of, as CycloneDX 1.5 has it: the modules
// that the linker wrote into them, with the sums of go.sum. What one of the binaries
// has is in the list.
func Bill(p Package, binaries [][]byte) ([]byte, error) {
	type component struct {
		Type    string              `json:"type"`
		BOMRef  string              `json:"bom-ref"`
		Name    string              `json:"name"`
		Version string              `json:"version"`
		PURL    string              `json:"purl,omitempty"`
		License []map[string]any    `json:"licenses,omitempty"`
		Props   []map[string]string `json:"properties,omitempty"`
	}
	found := map[string]component{}
	goVersion := ""
	for _, data := range binaries {
		info, err := buildinfo.Read(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("read what a binary is made of: %w", err)
		}
		goVersion = strings.TrimPrefix(info.GoVersion, "go")
		for _, m := range info.Deps {
			for m.Replace != nil {
				m = m.Replace
			}
			purl := "pkg:golang/" + m.Path + "@" + m.Version
			found[purl] = component{Type: "library", BOMRef: purl, Name: m.Path, Version: m.Version, PURL: purl, Props: []map[string]string{{"name": "go:sum", "value": m.Sum}}}
		}
	}
	all := []component{{Type: "library", BOMRef: "pkg:golang/std@" + goVersion, Name: "std", Version: goVersion, PURL: "pkg:golang/std@" + goVersion}}
	for _, c := range found {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	refs := make([]string, len(all))
	for i, c := range all {
		refs[i] = c.BOMRef
	}
	self := component{Type: "application", BOMRef: "linerate", Name: p.Name, Version: p.Version, License: []map[string]any{{"license": map[string]string{"id": p.License}}}}
	data, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata":     map[string]any{"timestamp": p.At.UTC().Format(time.RFC3339), "component": self},
		"components":   all,
		"dependencies": []map[string]any{{"ref": "linerate", "dependsOn": refs}},
	}, "", "  ")
	return append(data, '\n'), err
}

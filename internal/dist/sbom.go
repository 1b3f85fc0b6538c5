package dist

import (
	"bytes"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Bill returns the bill of materials of binaries in CycloneDX 1.5: the modules that the linker
// recorded in any of them, with the sums of go.sum and the licences in others.
func Bill(p Package, binaries [][]byte, others string) ([]byte, error) {
	type component struct {
		Type    string              `json:"type"`
		BOMRef  string              `json:"bom-ref"`
		Name    string              `json:"name"`
		Version string              `json:"version"`
		PURL    string              `json:"purl,omitempty"`
		License []map[string]any    `json:"licenses,omitempty"`
		Hashes  []map[string]string `json:"hashes,omitempty"`
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
			found[purl] = component{Type: "library", BOMRef: purl, Name: m.Path, Version: m.Version, PURL: purl, License: licence(m.Path, others), Hashes: hashes(m.Sum)}
		}
	}
	all := []component{{Type: "library", BOMRef: "pkg:golang/std@" + goVersion, Name: "std", Version: goVersion, PURL: "pkg:golang/std@" + goVersion, License: named("BSD-3-Clause")}}
	for _, c := range found {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	refs := make([]string, len(all))
	for i, c := range all {
		refs[i] = c.BOMRef
	}
	self := component{Type: "application", BOMRef: "linerate", Name: p.Name, Version: p.Version, License: named(p.License)}
	data, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata":     map[string]any{"timestamp": p.At.UTC().Format(time.RFC3339), "component": self},
		"components":   all,
		"dependencies": []map[string]any{{"ref": "linerate", "dependsOn": refs}},
	}, "", "  ")
	return append(data, '\n'), err
}

func named(id string) []map[string]any {
	return []map[string]any{{"license": map[string]string{"id": id}}}
}

// hashes converts a sum of go.sum, a SHA-256 over a module's files.
func hashes(sum string) []map[string]string {
	b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(sum, "h1:"))
	if err != nil || len(b) != 32 {
		return nil
	}
	return []map[string]string{{"alg": "SHA-256", "content": hex.EncodeToString(b)}}
}

// licence identifies the licence of a module from its text in others, in which each text follows its path.
func licence(module, others string) []map[string]any {
	_, text, found := strings.Cut(others, "\n"+module+"/LICEN")
	if !found {
		return nil
	}
	text, _, _ = strings.Cut(text, strings.Repeat("-", 72))
	for _, known := range []struct{ words, id string }{
		{"Apache License", "Apache-2.0"}, {"Mozilla Public License", "MPL-2.0"}, {"Permission is hereby granted", "MIT"}, {"Permission to use, copy", "ISC"},
		{"endorse or promote", "BSD-3-Clause"}, {"Redistribution and use", "BSD-2-Clause"},
	} {
		if strings.Contains(strings.Join(strings.Fields(text), " "), known.words) {
			return named(known.id)
		}
	}
	return nil
}

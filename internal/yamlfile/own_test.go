package yamlfile

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestOwn: files come in the order of their names, and mistakes with file and line.
func TestOwn(t *testing.T) {
	type doc struct {
		Names []string `yaml:"names"`
	}
	fsys := func(texts ...string) fstest.MapFS {
		m := fstest.MapFS{"other.txt": {Data: []byte("x")}}
		for i, text := range texts {
			m["d/"+string(rune('a'+i))+".yaml"] = &fstest.MapFile{Data: []byte(text)}
		}
		return m
	}
	files, err := Own[doc](fsys("names: [x, y]\n", "# z\nnames: [z]\n"), "d/*.yaml")
	if err != nil || len(files) != 2 || files[0].Name != "d/a.yaml" || strings.Join(files[0].Doc.Names, " ") != "x y" || files[1].Doc.Names[0] != "z" {
		t.Errorf("%+v, %v", files, err)
	}
	for text, want := range map[string]string{
		"names: [x]\nother: 1\n":        "d/a.yaml:2: unknown field",
		"names:\n  a: b\n":              "d/a.yaml:2: ",
		"names: [x]\n---\nnames: [y]\n": "d/a.yaml: want one YAML document",
		"":                              "d/a.yaml: EOF",
		"names: [x\n":                   "d/a.yaml:1: ",
	} {
		if _, err := Own[doc](fsys(text, "names: [x]"), "d/*.yaml"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

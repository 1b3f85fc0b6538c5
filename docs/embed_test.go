package docs

import (
	"io/fs"
	"slices"
	"testing"
)

// TestEveryPageIsATopic: each embedded page has one topic, a title and a text.
func TestEveryPageIsATopic(t *testing.T) {
	var files []string
	for _, topic := range Topics() {
		files = append(files, topic.file)
		if found, ok := Find(topic.Name); !ok || found != topic || topic.Title() == "" || len(topic.Text()) < 200 {
			t.Errorf("%s: title %q, %d bytes", topic.Name, topic.Title(), len(topic.Text()))
		}
	}
	slices.Sort(files)
	var embedded []string
	err := fs.WalkDir(pages, ".", func(path string, d fs.DirEntry, err error) error {
		if !d.IsDir() {
			embedded = append(embedded, path)
		}
		return err
	})
	if slices.Sort(embedded); err != nil || !slices.Equal(files, embedded) {
		t.Errorf("topics of %v, pages %v (%v)", files, embedded, err)
	}
}

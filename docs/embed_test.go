package docs

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// TestExamplesAreYAML: YAML examples on pages are valid and can be copied.
func TestExamplesAreYAML(t *testing.T) {
	examples := 0
	for _, topic := range Topics() {
		for i, part := range strings.Split(topic.Text(), "```yaml\n") {
			if i == 0 {
				continue
			}
			text, _, _ := strings.Cut(part, "```")
			var anything any
			if err := yaml.Unmarshal([]byte(text), &anything); err != nil {
				t.Errorf("%s, example %d: %v", topic.Name, i, err)
			}
			examples++
		}
	}
	if examples < 10 {
		t.Errorf("%d examples", examples)
	}
}

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
	embedded := slices.Sorted(maps.Keys(Pages()))
	if !slices.Equal(files, embedded) {
		t.Errorf("topics of %v, pages %v", files, embedded)
	}
}

package lab

import (
	"os"
	"path/filepath"
	"testing"

	"linerate/internal/study"
)

// TestStudies checks that linerate accepts the studies that measure a lab's resolution.
func TestStudies(t *testing.T) {
	files, err := filepath.Glob("*.yaml")
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := study.Parse(file, text); err != nil || len(s.Variants) < 6 || s.Primary().Metric != study.CostNS && s.Primary().Metric != study.ForwardingRate {
			t.Errorf("%s: %v", file, err)
		}
	}
}

package tunable_test

import (
	"testing"

	"linerate/catalogue"
	"linerate/internal/tunable"
)

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := tunable.Read(catalogue.Files()); err != nil {
			b.Fatal(err)
		}
	}
}

package tunable_test

import (
	"testing"

	"linerate/internal/sharedtest"

	"linerate/internal/tunable"
)

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := tunable.Read(sharedtest.Catalogue()); err != nil {
			b.Fatal(err)
		}
	}
}

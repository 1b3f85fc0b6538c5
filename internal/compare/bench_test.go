package compare

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"linerate/internal/show"
	"linerate/internal/stats"
)

func BenchmarkHundredThousandASide(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	file := func(mean float64) []byte {
		var t bytes.Buffer
		for range 100_000 {
			fmt.Fprintln(&t, mean+3000*r.NormFloat64())
		}
		return t.Bytes()
	}
	x, y := file(744_000), file(744_100)
	for b.Loop() {
		var arms []stats.Arm
		for _, data := range [][]byte{x, y} {
			a, err := Read("f", data, Input{})
			if err != nil {
				b.Fatal(err)
			}
			arms = append(arms, a)
		}
		res, err := Run(arms, false, stats.Options{Alpha: 0.05})
		if err != nil {
			b.Fatal(err)
		}
		if err := res.Print(io.Discard, show.Style{Width: 80}); err != nil {
			b.Fatal(err)
		}
	}
}

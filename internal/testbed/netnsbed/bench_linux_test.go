package netnsbed

import (
	"context"
	"testing"

	"linerate/internal/labtest"
	"linerate/internal/setting"
)

// BenchmarkReset measures the time between trials, the study's overhead.
func BenchmarkReset(b *testing.B) {
	labtest.Need(b)
	bed := up(b, Options{})
	for name, s := range map[string][]setting.Setting{
		"none":       nil,
		"rules-1000": {{Mechanism: setting.NFT, Rules: &setting.Rules{Linear: 1000}}},
		"set-10000":  {{Mechanism: setting.NFT, Rules: &setting.Rules{SetElements: 10000}}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := bed.Reset(context.Background(), s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package stats

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// exactFlips bounds 2^n for the exact sign-flip test.
const exactFlips = 1 << 16

// Permutation is the outcome of a permutation test.
type Permutation struct {
	P        float64
	Exact    bool    // all arrangements were tried
	Smallest float64 // the smallest p this many blocks can give
}

// SignFlip tests whether block-wise differences are symmetric about zero, as
// they are when control and variant are exchangeable within their block: every
// relabelling of blocks is a flip of signs (Fisher 1935; Ernst, Statist. Sci.
// 19, 2004). All 2^n are tried up to n = 16, beyond that draws of them, seeded,
// with the observed one counted in (Phipson & Smyth 2010).
func SignFlip(d []float64, draws int, seed uint64) Permutation {
	n := len(d)
	if n == 0 {
		return Permutation{P: math.NaN(), Smallest: math.NaN()}
	}
	smallest := math.Pow(2, 1-float64(n))
	seen, scale := 0.0, 0.0
	for _, v := range d {
		seen += v
		scale += math.Abs(v)
	}
	limit := math.Abs(seen) - 1e-10*scale // sums that are equal but for rounding count
	if n <= 16 && 1<<n <= exactFlips {
		return Permutation{P: flipAll(d, limit), Exact: true, Smallest: smallest}
	}
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	extreme := 1
	for range draws {
		if math.Abs(flipOnce(d, r)) >= limit {
			extreme++
		}
	}
	p := float64(extreme) / float64(draws+1)
	return Permutation{P: p, Smallest: max(smallest, 1/float64(draws+1))}
}

// flipAll walks all sign patterns in Gray-code order: each differs from the
// one before by one sign, so a pattern costs one addition.
func flipAll(d []float64, limit float64) float64 {
	signed := append([]float64(nil), d...)
	sum := 0.0
	for _, v := range signed {
		sum += v
	}
	extreme, total := 0, 1<<len(d)
	for k := range total {
		if k > 0 {
			i := bits.TrailingZeros(uint(k))
			signed[i] = -signed[i]
			sum += 2 * signed[i]
		}
		if math.Abs(sum) >= limit {
			extreme++
		}
	}
	return float64(extreme) / float64(total)
}

func flipOnce(d []float64, r *rand.Rand) float64 {
	sum := 0.0
	for i := 0; i < len(d); i += 64 {
		coins := r.Uint64()
		for j := i; j < min(i+64, len(d)); j++ {
			if coins&1 == 1 {
				sum += d[j]
			} else {
				sum -= d[j]
			}
			coins >>= 1
		}
	}
	return sum
}

package tune

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"linerate/internal/stats"
)

// Lenth is the scale of null effects, estimated from effects of which most are null (Lenth,
// Technometrics 31, 1989).
type Lenth struct {
	// PSE is the pseudo standard error of an effect, DF its degrees of freedom: a
	// third of the number of effects.
	PSE float64 `json:"pse"`
	DF  float64 `json:"df"`
	// Margin is the margin of error of one effect at 95 %; Simultaneous that of all
	// of them together.
	Margin       float64 `json:"margin"`
	Simultaneous float64 `json:"simultaneous_margin"`
}

// LenthOf estimates the scale from the effects of an unreplicated or replicated
// two-level array, placebo columns among them. NaN from none.
func LenthOf(effects []float64) Lenth {
	size := make([]float64, len(effects))
	for i, e := range effects {
		size[i] = math.Abs(e)
	}
	slices.Sort(size)
	limit := 2.5 * 1.5 * median(size)
	small := size
	for len(small) > 0 && small[len(small)-1] >= limit && limit > 0 {
		small = small[:len(small)-1]
	}
	m := float64(len(effects))
	l := Lenth{PSE: 1.5 * median(small), DF: m / 3}
	l.Margin = l.PSE * stats.TQuantile(0.975, l.DF)
	l.Simultaneous = l.PSE * stats.TQuantile((1+math.Pow(0.95, 1/m))/2, l.DF)
	return l
}

// median of ascending values; NaN of none.
func median(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// screened is what the screening's runs have come to: every value less its
// block's mean, and every column likewise, which takes the blocks' own levels out
// of the estimates (Frisch & Waugh, Econometrica 1, 1933).
type screened struct {
	x [][]float64 // by run: −1 or 1 less the block's mean, by column of the array
	z [][]float64 // by run: the plain signs
	y []float64   // log values, more is better
	// block numbers the run's block.
	block []int
}

// add takes a block's runs.
func (s *screened) add(a array, runs []int, values []float64) {
	var have []int
	for i, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			have = append(have, i)
		}
	}
	if len(have) < 2 {
		return
	}
	n := float64(len(have))
	mean, level := make([]float64, a.columns), 0.0
	var rows [][]float64
	for _, i := range have {
		row := make([]float64, a.columns)
		for j := range row {
			row[j] = -1
			if a.runs[runs[i]][j] {
				row[j] = 1
			}
			mean[j] += row[j] / n
		}
		level += values[i] / n
		rows = append(rows, row)
	}
	block := 0
	if len(s.block) > 0 {
		block = s.block[len(s.block)-1] + 1
	}
	for k, i := range have {
		x := make([]float64, a.columns)
		for j := range x {
			x[j] = rows[k][j] - mean[j]
		}
		s.x, s.z = append(s.x, x), append(s.z, rows[k])
		s.y, s.block = append(s.y, values[i]-level), append(s.block, block)
	}
}

// effects are the main effects of all columns, high less low, by least squares;
// residual is what they leave of each value.
func (s *screened) effects() (effects, residual []float64) {
	columns := len(s.x[0])
	xtx, xty := mat.NewSymDense(columns, nil), mat.NewVecDense(columns, nil)
	for i, row := range s.x {
		v := mat.NewVecDense(columns, row)
		xtx.SymRankOne(xtx, 1, v)
		xty.AddScaledVec(xty, s.y[i], v)
	}
	for j := range columns { // runs that are missing may leave columns alike
		xtx.SetSym(j, j, xtx.At(j, j)*(1+1e-9)+1e-9)
	}
	var chol mat.Cholesky
	b := mat.NewVecDense(columns, nil)
	if chol.Factorize(xtx) { //nolint:misspell // its name
		_ = chol.SolveVecTo(b, xty) // a condition number is no error here
	}
	for j := range columns {
		effects = append(effects, 2*b.AtVec(j))
	}
	for i, row := range s.x {
		residual = append(residual, s.y[i]-mat.Dot(b, mat.NewVecDense(columns, row)))
	}
	return effects, residual
}

// product is the column of a two-factor interaction, less its blocks' means.
func (s *screened) product(i, j int) []float64 {
	out := make([]float64, len(s.z))
	for from := 0; from < len(out); {
		to, sum := from, 0.0
		for ; to < len(out) && s.block[to] == s.block[from]; to++ {
			out[to] = s.z[to][i] * s.z[to][j]
			sum += out[to]
		}
		for k := from; k < to; k++ {
			out[k] -= sum / float64(to-from)
		}
		from = to
	}
	return out
}

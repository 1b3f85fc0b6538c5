package tune

import (
	"math"
	"slices"

	"linerate/internal/list"
	"linerate/internal/stats"
)

// Effect is the screening's estimate for a level of a factor: its gain over the base's level, with
// the other factors as in the candidate. Sizes are natural logarithms of ratios, and more is
// better: 0.01 is about 1 %.
type Effect struct {
	Factor int `json:"factor"`
	Level  int `json:"level"`
	// Effect is the estimate, and SE its standard error; 0 until measured.
	Effect float64 `json:"effect"`
	SE     float64 `json:"se"`
	// Active is the probability that there is an effect at all. Expected is its mean given the distribution
	// of all effects, which corrects for selection; Low to High contain 95 % of the distribution.
	Active   float64 `json:"active"`
	Expected float64 `json:"expected"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	// Asked counts the arms with the level, Seen those of them with a value.
	Asked int `json:"asked"`
	Seen  int `json:"seen"`
	// Lacking says why the testbed lacks it; "" if it has it, or was not asked.
	Lacking string `json:"lacking,omitempty"`
}

// Interaction is the effect of two factors together beyond the sum of their separate effects.
type Interaction struct {
	A      int     `json:"a"`
	B      int     `json:"b"`
	Effect float64 `json:"effect"`
}

// Model is the result of the screening.
type Model struct {
	Runs         int           `json:"runs"` // number of values it is based on
	Effects      []Effect      `json:"effects"`
	Interactions []Interaction `json:"interactions"`
	// SD is the scatter of one value between arms of a block, SE the median of the effects'
	// standard errors, and Simultaneous the effect that chance exceeds in 5 % of searches.
	SD           float64 `json:"sd"`
	SE           float64 `json:"se"`
	Simultaneous float64 `json:"simultaneous_margin"`
}

// known is the screening's model: a Bayesian regression of values, centred by block, on levels and
// on products of pairs of factors. The effects' prior is normal; its variance and that of the noise
// maximise the evidence (MacKay, Neural Computation 4, 1992).
type known struct {
	*state
	first []int // column of a factor's first level; the last entry is the first pair's
	pairs [][2]int
	rows  [][]float64 // centred by block
	on    [][]float64 // by row, the factors not at the base's level, also centred
	y     []float64
	block int

	noise, prior float64 // variances
	mean         []float64
	q            [][]float64 // eigenvectors of the rows' cross products, and the posterior standard deviations along them
	sd           []float64

	asked, seen []int // by column
	share, tau2 float64
}

// learn fits the model to the screening.
func (s *state) learn() *known {
	k := &known{state: s}
	columns := 0
	for _, n := range s.Levels {
		k.first = append(k.first, columns)
		columns += n
	}
	k.first = append(k.first, columns)
	k.asked, k.seen = make([]int, columns), make([]int, columns)
	k.fit()
	for len(k.pairs) < mostPairsOfFactors && k.another() {
		k.fit()
	}
	k.weigh()
	return k
}

// row returns a configuration as a row of the regression.
func (k *known) row(c Config) []float64 {
	row := make([]float64, k.first[len(c)]+len(k.pairs))
	for i, l := range c {
		if l > 0 {
			row[k.first[i]+l-1] = 1
		}
	}
	for i, p := range k.pairs {
		if c[p[0]] > 0 && c[p[1]] > 0 {
			row[k.first[len(c)]+i] = 1
		}
	}
	return row
}

// read reads the blocks of the screening.
func (k *known) read() {
	k.rows, k.on, k.y, k.block = nil, nil, nil, 0
	clear(k.asked)
	clear(k.seen)
	for _, m := range k.of(Screen) {
		arms := append([]Config{m.Control, m.Control}, m.Arms...)
		for _, block := range m.Values {
			k.read1(arms, block)
		}
	}
}

func (k *known) read1(arms []Config, values []float64) {
	from := len(k.y)
	for i, c := range arms {
		valid := !math.IsNaN(values[i]) && !math.IsInf(values[i], 0)
		on := make([]float64, len(c))
		for f, l := range c {
			if l > 0 {
				on[f] = 1
				if k.asked[k.first[f]+l-1]++; valid {
					k.seen[k.first[f]+l-1]++
				}
			}
		}
		if valid {
			k.rows, k.on, k.y = append(k.rows, k.row(c)), append(k.on, on), append(k.y, values[i])
		}
	}
	if len(k.y) == from {
		return
	}
	k.block++
	level := stats.Mean(k.y[from:])
	for i := from; i < len(k.y); i++ {
		k.y[i] -= level
	}
	centred(k.rows[from:])
	centred(k.on[from:])
}

// centred subtracts the mean from each column.
func centred(rows [][]float64) {
	for j := range rows[0] {
		sum := 0.0
		for _, r := range rows {
			sum += r[j]
		}
		for _, r := range rows {
			r[j] -= sum / float64(len(rows))
		}
	}
}

func (k *known) fit() {
	k.read()
	n := k.first[len(k.Levels)] + len(k.pairs)
	xtx, moment, yy := stats.Square(n), make([]float64, n), 0.0
	for i, row := range k.rows {
		for a, v := range row {
			add(xtx[a], v, row)
		}
		add(moment, k.y[i], row)
		yy += k.y[i] * k.y[i]
	}
	values, vectors := stats.Eigen(xtx)
	along := list.Map(vectors, func(v []float64) float64 { return dot(v, moment) })
	k.q = vectors
	k.scale(values, along, yy)
	k.sd, k.mean = make([]float64, n), make([]float64, n)
	for j, v := range values {
		precision := max(0, v)/k.noise + 1/k.prior
		k.sd[j] = 1 / math.Sqrt(precision)
		add(k.mean, along[j]/k.noise/precision, vectors[j])
	}
}

// scale estimates the variances of the noise and of the effects.
func (k *known) scale(values, along []float64, yy float64) {
	usual := 16 * k.Worth * k.Worth // prior variance of effects, with the weight of two of them
	aa, n := k.beside0()
	k.prior, k.noise = usual, (aa*n+usual/2)/(n+2)
	start := k.noise
	for range 30 {
		free, size, rest := 0.0, 0.0, yy
		for j, v := range values {
			m := along[j] / (max(0, v) + k.noise/k.prior)
			free, size, rest = free+max(0, v)/(max(0, v)+k.noise/k.prior), size+m*m, rest-m*(2*along[j]-v*m)
		}
		k.prior = (size + 2*usual) / (free + 2)
		k.noise = max(1e-18, (max(0, rest)+2*start)/(max(0, float64(len(k.y)-k.block)-free)+2))
	}
}

// along returns the difference of two rows in the basis of eigenvectors, with its posterior variance.
func (k *known) along(a, b []float64) (along []float64, variance float64) {
	along = make([]float64, len(a))
	for i := range a {
		if d := a[i] - b[i]; d != 0 {
			for j := range along {
				along[j] += d * k.q[j][i]
			}
		}
	}
	for j, v := range along {
		variance += v * v * k.sd[j] * k.sd[j]
	}
	return along, variance
}

// contrast returns the expected difference of two rows and its standard error, without the prior's shrinkage.
func (k *known) contrast(a, b []float64) (effect, se float64) {
	size := 0.0
	for j := range a {
		effect += (a[j] - b[j]) * k.mean[j]
		size += (a[j] - b[j]) * (a[j] - b[j])
	}
	_, variance := k.along(a, b)
	known := max(0.05, 1-variance/(size*k.prior))
	return effect / known, math.Sqrt(variance / known)
}

// mostPairsOfFactors bounds the number of interactions in a model.
const mostPairsOfFactors = 8

// another adds the pair of factors whose product explains the residuals best, if it stands out
// among all pairs.
func (k *known) another() bool {
	n := len(k.Levels)
	count := float64(n*(n-1)) / 2
	if count == 0 || len(k.y) <= k.block+n {
		return false
	}
	left := slices.Clone(k.y)
	for i, row := range k.rows {
		left[i] -= dot(row, k.mean)
	}
	most, best := stats.NormalQuantile(1-pairLevel/count), [2]int{}
	for i := range n {
		for j := range i {
			p := [2]int{j, i}
			if z := k.product(p, left); z > most && !slices.Contains(k.pairs, p) {
				most, best = z, p
			}
		}
	}
	if best[1] == 0 {
		return false
	}
	k.pairs = append(k.pairs, best)
	return true
}

// pairLevel is twice the expected number of pairs that chance adds in a search.
const pairLevel = 0.1

// product returns how far the product of two factors stands out, in standard errors.
func (k *known) product(p [2]int, left []float64) float64 {
	sum, size := 0.0, 0.0
	for r, on := range k.on {
		v := on[p[0]] * on[p[1]]
		sum, size = sum+v*left[r], size+v*v
	}
	if size == 0 {
		return 0
	}
	return math.Abs(sum) / math.Sqrt(size*k.noise)
}

// weigh estimates the share of factors with an effect, and the size of these effects: normal with a
// variance, the rest zero. It uses EM, with a prior weighing ten effects of which one in six is
// real (the vital few; Box & Meyer, Technometrics 28, 1986).
func (k *known) weigh() {
	var effect, se []float64
	base := k.row(k.base())
	for i := range k.Levels {
		if l := k.promising(i); l > 0 {
			e, s := k.contrast(k.row(k.base().With(i, l)), base)
			effect, se = append(effect, e), append(se, s)
		}
	}
	typical := stats.Median(se)
	least := typical * typical
	k.share, k.tau2 = 1.0/6, 4*least
	for range 60 {
		sum, square := 0.0, 0.0
		for i, e := range effect {
			active, _ := k.shrink(e, se[i])
			sum, square = sum+active, square+active*max(0, e*e-se[i]*se[i])
		}
		k.share = (sum + 10.0/6) / (float64(len(effect)) + 10)
		k.tau2 = max(least, (square+2*least)/(sum+1))
	}
}

// promising returns a factor's level with the largest expected effect, other than the base's; 0 if none was seen.
func (k *known) promising(factor int) (level int) {
	for l := 1; l <= k.Levels[factor]; l++ {
		column := k.first[factor] + l - 1
		if k.seen[column] > 0 && (level == 0 || k.mean[column] > k.mean[k.first[factor]+level-1]) {
			level = l
		}
	}
	return level
}

// shrink returns the probability that an effect is real, and its expected size, given its standard error.
func (k *known) shrink(effect, se float64) (active, expected float64) {
	s2 := se * se
	if !(s2 > 0) {
		return 0, effect
	}
	odds := k.share / (1 - k.share) * math.Sqrt(s2/(s2+k.tau2)) * math.Exp(min(600, effect*effect*k.tau2/(2*s2*(s2+k.tau2))))
	active = odds / (1 + odds)
	return active, active * effect * k.tau2 / (k.tau2 + s2)
}

// add adds factor times b to a; most rows have few values.
func add(a []float64, factor float64, b []float64) {
	if factor == 0 {
		return
	}
	for i, v := range b {
		a[i] += factor * v
	}
}

func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

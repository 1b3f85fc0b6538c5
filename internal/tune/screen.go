package tune

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// The largest number of arms in a block of the screening: fewer with levels, so that poor ones are given up sooner.
const (
	ofSwitches = 30
	ofLevels   = 16
)

func (s *Search) batch() int {
	if slices.Max(s.Levels) > 1 {
		return min(s.Together, ofLevels)
	}
	return min(s.Together, ofSwitches)
}

// deadAfter is the number of arms with a level, all without a value, after which the testbed is taken to lack it.
const deadAfter = 3

// screen requests another block, until every choice between levels is clear or the remaining budget is
// needed for confirmation.
//
// Arms come in pairs. For each factor a pair has the level that is best under effects drawn from the
// posterior, and the best level of another draw that disagrees (top-two Thompson sampling: Russo,
// Operations Research 68, 2020): a factor with two levels is on in half of the arms, so every trial
// measures all factors; poor levels are given up, and so is the choice itself once draws agree. Mirroring
// keeps main effects clear of two-factor interactions (Box & Wilson, J. R. Statist. Soc. B 13, 1951).
func (s *state) screen() (Experiment, bool) {
	done := len(s.of(Screen))
	k := s.learn()
	if done > 0 && !k.again() {
		return Experiment{}, false
	}
	r := rand.New(rand.NewPCG(s.Seed, 0x7503+uint64(done)))
	e := Experiment{Name: fmt.Sprintf("screen-%d", done+1), Phase: Screen, Control: s.base(), Blocks: 1}
	pool := make([]Config, draws)
	for i := range pool {
		pool[i] = k.draw(r)
	}
	for range max(1, s.batch()/2) {
		e.Arms = append(e.Arms, k.mirrored(r, pool)...)
	}
	return e, true
}

// draws is the number of posterior draws from which a block's pairs are made; each pair is the
// least known out of tries candidates.
const (
	draws = 60
	tries = 16
)

// mirrored returns a pair of arms, and updates the model as if their values were known.
func (k *known) mirrored(r *rand.Rand, pool []Config) []Config {
	var best []Config
	var along []float64
	most := -1.0
	for range tries {
		pair := topTwo(r, pool)
		now, doubt := k.along(k.row(pair[0]), k.row(pair[1]))
		if doubt > most {
			best, along, most = pair, now, doubt
		}
	}
	for j, v := range along { // update along the eigenvectors only, as an approximation
		k.sd[j] /= math.Sqrt(1 + v*v*k.sd[j]*k.sd[j]/(2*k.noise))
	}
	return best
}

// topTwo makes a pair of arms from drawn configurations.
func topTwo(r *rand.Rand, pool []Config) []Config {
	order := r.Perm(len(pool))
	first := pool[order[0]]
	pair := []Config{slices.Clone(first), slices.Clone(first)}
	for _, n := range order[1:] {
		for i, l := range pool[n] {
			if pair[1][i] == first[i] {
				pair[1][i] = l
			}
		}
	}
	for i := range first {
		if r.Uint64()&1 == 1 {
			pair[0][i], pair[1][i] = pair[1][i], pair[0][i]
		}
	}
	return pair
}

// draw returns the best configuration under effects drawn from the posterior.
func (k *known) draw(r *rand.Rand) Config {
	theta := make([]float64, len(k.mean))
	copy(theta, k.mean)
	for j, sd := range k.sd {
		z := sd * r.NormFloat64()
		for i := range theta {
			theta[i] += z * k.q[j][i]
		}
	}
	return k.argmax(theta)
}

// argmax returns the best configuration under given effects, by changing one factor or pair at a time.
func (k *known) argmax(theta []float64) Config {
	c := k.base()
	worth := func(c Config) (sum float64) {
		for i, l := range c {
			if l > 0 {
				sum += theta[k.first[i]+l-1]
			}
		}
		for i, p := range k.pairs {
			if c[p[0]] > 0 && c[p[1]] > 0 {
				sum += theta[k.first[len(c)]+i]
			}
		}
		return sum
	}
	for range 4 {
		for i := range c {
			c = k.better(c, i, worth)
		}
		for _, p := range k.pairs {
			for l := 0; l <= k.Levels[p[0]]; l++ {
				if other := k.better(c.With(p[0], l), p[1], worth); worth(other) > worth(c) {
					c = other
				}
			}
		}
		if len(k.pairs) == 0 {
			break
		}
	}
	return c
}

// better returns a configuration with a factor at its best level.
func (k *known) better(c Config, factor int, worth func(Config) float64) Config {
	best, most := c.With(factor, 0), worth(c.With(factor, 0))
	for l := 1; l <= k.Levels[factor]; l++ {
		if v := worth(c.With(factor, l)); v > most && !k.dead(k.first[factor]+l-1) {
			best, most = c.With(factor, l), v
		}
	}
	return best
}

// dead reports whether the testbed seems to lack a level.
func (k *known) dead(column int) bool { return k.asked[column] >= deadAfter && k.seen[column] == 0 }

// lacking returns why the testbed lacks a level; "" if it has it.
func (k *known) lacking(factor, level int) string {
	for _, m := range k.of(Screen) {
		for i, why := range m.Unavailable {
			if m.Arms[i][factor] == level && k.dead(k.first[factor]+level-1) {
				return why
			}
		}
	}
	return ""
}

// again decides whether to run another block.
func (k *known) again() bool {
	if _, on := k.last(Confirm); on || k.clear() {
		return false
	}
	left := k.left()
	return k.batch()+beside+min(k.toConfirm(0.95), max((beside+1)*leastPairs, k.total(left)/confirmShare)) <= left
}

// clear reports whether no further block could change a choice between levels that matters.
func (k *known) clear() bool {
	best := k.argmax(k.mean)
	for i, n := range k.Levels {
		for l := 0; l <= n; l++ {
			if l == best[i] || l > 0 && k.dead(k.first[i]+l-1) {
				continue
			}
			if gap, se := k.contrast(k.row(best), k.row(best.With(i, l))); se > k.Worth/3 && gap < 3*se {
				return false
			}
		}
	}
	return true
}

package tune

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Arms that a block of the screening has at most: fewer where levels are to be given up for those that promise more.
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

// deadAfter arms that had a level, none with a value, it is taken for one that the testbed does not have.
const deadAfter = 3

// screen asks for one more block, until every choice between levels is clear or what is left is
// needed to confirm what was found.
//
// Its arms come in pairs. Of each factor a pair has the level that is best by effects drawn from what
// is known, and the best of another draw that disagrees (top-two Thompson sampling: Russo, Operations
// Research 68, 2020): a factor of two levels is on in half of the arms, so that every trial measures all
// factors, levels that do not promise are given up, and so is the choice itself where draws agree.
// Mirrored, main effects are clear of two-factor interactions (Box & Wilson, J. R. Statist. Soc. B 13, 1951).
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

// Of so many draws of the effects a block's pairs are made, each of them the one of so many pairs of
// which least is known.
const (
	draws = 60
	tries = 16
)

// mirrored is a pair of arms, whose values the model then takes for known.
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
	for j, v := range along { // along the eigenvectors alone, which is near enough
		k.sd[j] /= math.Sqrt(1 + v*v*k.sd[j]*k.sd[j]/(2*k.noise))
	}
	return best
}

// topTwo makes a pair of arms of configurations drawn.
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

// draw is the best configuration by effects drawn from what is known.
func (k *known) draw(r *rand.Rand) Config {
	theta := make([]float64, len(k.mean))
	copy(theta, k.mean)
	for j, sd := range k.sd {
		z := sd * r.NormFloat64()
		for i := range theta {
			theta[i] += z * k.q.At(i, j)
		}
	}
	return k.argmax(theta)
}

// argmax is the configuration that effects make best: by changes of one factor, and of both of a pair.
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

// better is a configuration with a factor at its best level.
func (k *known) better(c Config, factor int, worth func(Config) float64) Config {
	best, most := c.With(factor, 0), worth(c.With(factor, 0))
	for l := 1; l <= k.Levels[factor]; l++ {
		if v := worth(c.With(factor, l)); v > most && !k.dead(k.first[factor]+l-1) {
			best, most = c.With(factor, l), v
		}
	}
	return best
}

// dead reports whether the testbed does not seem to have a level.
func (k *known) dead(column int) bool { return k.asked[column] >= deadAfter && k.seen[column] == 0 }

// lacking is why the testbed does not have a level; "" where it has.
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

// again decides on one more block.
func (k *known) again() bool {
	if _, on := k.last(Confirm); on || k.clear() {
		return false
	}
	left := k.left()
	return k.batch()+beside+min(k.toConfirm(0.95), max((beside+1)*leastPairs, k.total(left)/confirmShare)) <= left
}

// clear reports that no choice between levels is left that matters and that more blocks would change.
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

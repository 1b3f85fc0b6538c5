package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
)

// Unit is something that a coin assigned to an arm, such as a connection.
type Unit struct {
	Value float64
	Of    float64 // for a ratio, the total of which the value is a share
	// Known is known about the unit before it drew its arm, and explains part of its value.
	Known float64
	// Weight is the inverse of the probability of the arm that it drew.
	Weight float64
	// Cluster groups units that may resemble each other: a connection's client.
	Cluster uint64
}

// UnitArm is an arm's units.
type UnitArm struct {
	Name  string
	Units []Unit
}

// leastClusters is the smallest number of clusters of equal size whose scatter says anything
// about further ones; leastTail is the smallest number of units beyond a quantile.
const (
	leastClusters = 10
	leastTail     = 20
)

// CompareUnits compares arms by a quantile of their units' values or, for quantile 0, by the ratio
// of the sum of values to the sum of their totals. Each unit drew its arm independently of the
// others. Units of a cluster may resemble each other, as connections of a client do: variances are
// those of sums over clusters of the units' influence on the estimate, and the degrees of freedom
// of Student's t are the equivalent number of equal clusters, less one (Carter, Schnepel &
// Steigerwald, Rev. Econ. Stat. 99, 2017). A quantile's influence needs the density there, which
// is derived from the interval of the distribution function (Woodruff, J. Am. Stat. Assoc. 47,
// 1952; Deng, Knoblich & Lu, KDD 2018, for clusters). P-values are corrected over the variants by
// Holm.
func CompareUnits(control UnitArm, variants []UnitArm, quantile float64, opt Options) []Comparison {
	return compareAll(len(variants), opt, func(i int, opt Options) Comparison { return compareUnits(control, variants[i], quantile, opt) })
}

func compareUnits(control, variant UnitArm, q float64, opt Options) Comparison {
	a, b := control.Units, variant.Units
	c := Comparison{Control: control.Name, Variant: variant.Name, Design: Independent, N: min(len(a), len(b)), NControl: len(a), NVariant: len(b),
		Share: opt.Share, Scale: LogRatio, Method: fmt.Sprintf("Student's t over %s, on the influence of %s", opt.Of.Clusters, opt.Of.Units)}
	ea, eb := estimateOf(a, q), estimateOf(b, q)
	from, to := ea.at, eb.at
	if q == 0 {
		c.Scale = Difference
	} else {
		from, to = math.Log(from), math.Log(to)
	}
	known := (ea.known() + eb.known()) / 2
	from, to = from-ea.adjust(known), to-eb.adjust(known)
	s := scatterOf(ea, eb)
	c.Effect = newTest(to-from, math.Sqrt(s.aa+s.bb-2*s.ab), s.clusters-1, 1-opt.Alpha)
	c.ControlSum, c.VariantSum = Summary{N: len(a), Mean: ea.at}, Summary{N: len(b), Mean: eb.at}
	c.something = ea.at > 0
	c.means = &meanPair{ea.at, eb.at, s.aa, s.bb, s.ab, s.clusters - 1}
	c.Difference = c.Effect
	if c.Scale == LogRatio {
		scaled := func(v float64) float64 { return v * ea.at }
		c.Difference.Interval = c.Effect.Map(math.Expm1).Map(scaled)
	}
	c.finishUnits(s, q, opt)
	return c
}

// finishUnits fills in what follows from the effect, and refuses one that rests on too few data.
func (c *Comparison) finishUnits(s clusterScatter, q float64, opt Options) {
	c.conclude(opt)
	if c.Effect.SE > 0 && !opt.NoPlan {
		c.detectable(DetectableEffect(c.Effect.DF, opt.Alpha, opt.Power) * c.Effect.SE)
	}
	tail := float64(c.N)
	if q > 0 {
		tail *= min(q, 1-q)
	}
	switch {
	case c.Effect.SE == 0:
		c.warn(NoVariation, "watch a metric with a finer clock", "all values of each arm are equal")
	case tail < leastTail:
		c.warn(TooFew, opt.Of.More+", or watch a quantile nearer the median", "%d %s in the smaller arm are too few for this metric", c.N, opt.Of.Units)
	case s.all == 1:
		c.warn(TooFew, opt.Of.More+", to see more "+opt.Of.Clusters, "all %s come from one %s: too few to generalise from", opt.Of.Units, strings.TrimSuffix(opt.Of.Clusters, "s"))
	case s.clusters < leastClusters:
		c.warn(TooFew, opt.Of.More+", to see more "+opt.Of.Clusters, "the %s come from %d %s, some with so many that they count as %s: too few to generalise from", opt.Of.Units, s.all, opt.Of.Clusters, twoDigits(s.clusters))
	default:
		return
	}
	c.P, c.PHolm, c.PEquivalentHolm = math.NaN(), math.NaN(), math.NaN()
}

// known returns the mean of Known over the units.
func (e *estimate) known() float64 {
	sum, all := 0.0, 0.0
	for _, u := range e.units {
		sum, all = sum+u.Weight*u.Known, all+u.Weight
	}
	return sum / all
}

// adjust returns the part of an estimate that is due to the arm's units differing from all units
// in Known: by regression of their influence on it (Deng et al., WSDM 2013, for means; an estimate
// is the mean of its units' influence). It also removes that part from their influence.
func (e *estimate) adjust(all float64) float64 {
	mean, sum, of, weights := e.known(), 0.0, 0.0, 0.0
	for i, u := range e.units {
		x := u.Known - mean
		sum, of, weights = sum+e.influence[i]*x, of+u.Weight*x*x, weights+u.Weight
	}
	if !(of > 1e-12*weights) { // all are equal, except for rounding
		return 0
	}
	slope := sum * weights / of
	for i, u := range e.units {
		e.influence[i] -= slope * u.Weight / weights * (u.Known - mean)
	}
	return slope * (mean - all)
}

// estimate is the compared statistic of an arm, with each unit's influence on it, on the scale
// of the effect.
type estimate struct {
	units     []Unit
	at        float64
	influence []float64
}

func estimateOf(units []Unit, q float64) estimate {
	e := estimate{units: units, at: math.NaN(), influence: make([]float64, len(units))}
	if len(units) == 0 {
		return e
	}
	if q == 0 {
		e.ratio()
	} else {
		e.quantile(q)
	}
	return e
}

func (e *estimate) ratio() {
	sum, of := 0.0, 0.0
	for _, u := range e.units {
		sum, of = sum+u.Weight*u.Value, of+u.Weight*u.Of
	}
	if e.at = sum / of; !(of > 0) {
		e.at = math.NaN()
	}
	for i, u := range e.units {
		e.influence[i] = u.Weight * (u.Value - e.at*u.Of) / of
	}
}

// quantile computes the weighted quantile, and the influence on its logarithm.
func (e *estimate) quantile(q float64) {
	d := distributionOf(e.units)
	at := d.at(q)
	e.at = math.Exp(at)
	for i, u := range e.units {
		below := 0.0
		switch v := math.Log(u.Value); {
		case v < at:
			below = 1
		case v == at:
			below = 0.5
		}
		e.influence[i] = u.Weight / d.weight * (below - q)
	}
	// The random error of the share below q, and how the quantile moves with it.
	se := math.Sqrt(scatterOf(*e, estimate{}).aa)
	steep := (d.at(q+1.96*se) - d.at(q-1.96*se)) / (2 * 1.96 * se)
	for i := range e.influence {
		e.influence[i] *= -steep
	}
}

// distribution is a distribution of logarithms: its distinct values with the share of weight below
// each, counting half of the value's own. It is linear in between, so that quantiles of values
// rounded by a clock do not jump from one step to the next (mid-distribution function; Ma, Genton
// & Parzen, Ann. Inst. Stat. Math. 63, 2011).
type distribution struct {
	values, below []float64
	weight        float64
}

func distributionOf(units []Unit) (d distribution) {
	sorted := slices.Clone(units)
	sort.Slice(sorted, func(i, j int) bool { return cmp.Less(sorted[i].Value, sorted[j].Value) })
	for i := 0; i < len(sorted); {
		own, v := 0.0, sorted[i].Value
		for ; i < len(sorted) && sorted[i].Value == v; i++ {
			own += sorted[i].Weight
		}
		d.values, d.below = append(d.values, math.Log(v)), append(d.below, d.weight+own/2)
		d.weight += own
	}
	for i := range d.below {
		d.below[i] /= d.weight
	}
	return d
}

// UnitQuantile returns the quantile of units that CompareUnits compares; NaN if there are none.
func UnitQuantile(units []Unit, q float64) float64 {
	if len(units) == 0 {
		return math.NaN()
	}
	return math.Exp(distributionOf(units).at(q))
}

// at returns the value below which a share lies.
func (d distribution) at(share float64) float64 {
	i, _ := slices.BinarySearch(d.below, share)
	if i == 0 || i == len(d.below) {
		return d.values[max(0, i-1)]
	}
	part := (share - d.below[i-1]) / (d.below[i] - d.below[i-1])
	return d.values[i-1] + part*(d.values[i]-d.values[i-1])
}

// clusterScatter holds the variances of two estimates and their covariance.
type clusterScatter struct {
	aa, bb, ab float64
	clusters   float64 // number of equal clusters with the same scatter
	all        int
}

func scatterOf(a, b estimate) (s clusterScatter) {
	type sums struct{ a, b, alone float64 }
	by := map[uint64]*sums{}
	of := func(u Unit) *sums {
		if by[u.Cluster] == nil {
			by[u.Cluster] = &sums{}
		}
		return by[u.Cluster]
	}
	for i, u := range a.units {
		c := of(u)
		c.a, c.alone = c.a+a.influence[i], c.alone+a.influence[i]*a.influence[i]
	}
	for i, u := range b.units {
		c := of(u)
		c.b, c.alone = c.b+b.influence[i], c.alone+b.influence[i]*b.influence[i]
	}
	sum, squares := 0.0, 0.0
	for _, c := range by {
		s.aa, s.bb, s.ab = s.aa+c.a*c.a, s.bb+c.b*c.b, s.ab+c.a*c.b
		sum, squares = sum+c.alone, squares+c.alone*c.alone
	}
	s.all = len(by)
	if s.clusters = sum * sum / squares; !(squares > 0) {
		s.clusters = 0
	}
	n := float64(len(by))
	small := n / max(1, n-1)
	s.aa, s.bb, s.ab = s.aa*small, s.bb*small, s.ab*small
	return s
}

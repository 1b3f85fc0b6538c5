package study

import (
	"cmp"
	"maps"
	"slices"

	"linerate/internal/stats"
	"linerate/internal/testbed"
)

// Curve is how a metric runs over a swept parameter.
type Curve struct {
	Parameter string `json:"parameter"`
	Label     string `json:"label"` // of the parameter
	Metric    string `json:"metric"`
	Part      string `json:"part"` // "" where the parts are the points
	Name      string `json:"name"` // a curve of variants, or one variant
	// Offered says that the points are measured offered loads, in frames/s.
	Offered bool    `json:"offered,omitempty"`
	Points  []Spot  `json:"points"` // by X
	Fit     *PerOne `json:"fit,omitempty"`
	USL     *Scales `json:"usl,omitempty"`
	Knee    *Knee   `json:"knee,omitempty"`
}

// Spot is one point of a curve: the mean over blocks with its 95 % interval, of
// a variant that of its distance from the control.
type Spot struct {
	X     float64      `json:"x"`
	Name  string       `json:"name"` // the variant's or the part's
	Value float64      `json:"value"`
	Low   stats.Number `json:"low"`
	High  stats.Number `json:"high"`
	N     int          `json:"n"`
	// Loss is the mean loss ratio, of points that are offered loads.
	Loss stats.Number `json:"loss_ratio"`
}

// PerOne is a straight line with a step before it: what none costs, having any at
// all, and each one.
type PerOne struct {
	Base float64      `json:"base"`
	Each float64      `json:"each"`
	Low  stats.Number `json:"each_low"` // 95 % interval, over blocks
	High stats.Number `json:"each_high"`
	// Any is the step: by how much the line through the others begins above
	// what was measured of none. Unknown where none was not measured, or fewer
	// than three others.
	Any     stats.Number `json:"any"`
	AnyLow  stats.Number `json:"any_low"` // as Low, High
	AnyHigh stats.Number `json:"any_high"`
	// Off is the largest distance of a point from the line, in percent.
	Off float64 `json:"largest_deviation_percent"`
}

// Scales is the Universal Scalability Law's fit, with 95 % intervals.
type Scales struct {
	Gamma     float64      `json:"gamma"` // rate of one
	Sigma     float64      `json:"sigma"` // contention
	Kappa     float64      `json:"kappa"` // coherency
	SigmaLow  stats.Number `json:"sigma_low"`
	SigmaHigh stats.Number `json:"sigma_high"`
	KappaLow  stats.Number `json:"kappa_low"`
	KappaHigh stats.Number `json:"kappa_high"`
	Peak      stats.Number `json:"peak"`  // beyond which more make it slower; unknown where that is far beyond what was measured
	Limit     string       `json:"limit"` // what limits, in words
}

// scalesDraws is how often the fit is resampled.
const scalesDraws = 400

// scales fits the law to every block's value of a curve's points; nil where
// they are too few.
func scales(points []Spot, blocks func(Spot) map[int]float64) *Scales {
	var n, x []float64
	for _, p := range points {
		all := blocks(p)
		for _, block := range slices.Sorted(maps.Keys(all)) {
			n, x = append(n, p.X), append(x, all[block])
		}
	}
	u, err := stats.FitUSL(n, x, scalesDraws, 0.95, 1)
	if err != nil {
		return nil
	}
	out := &Scales{Gamma: u.Gamma.Estimate, Sigma: u.Sigma.Estimate, Kappa: u.Kappa.Estimate,
		SigmaLow: stats.Num(u.Sigma.Low), SigmaHigh: stats.Num(u.Sigma.High), KappaLow: stats.Num(u.Kappa.Low), KappaHigh: stats.Num(u.Kappa.High),
		Limit: u.Limit()}
	if len(u.Warnings) == 0 { // else it lies far beyond what was measured
		out.Peak = stats.Num(u.Peak.Estimate)
	}
	return out
}

// At is the rate that the law gives n.
func (u Scales) At(n float64) float64 { return u.Gamma * n / (1 + u.Sigma*(n-1) + u.Kappa*n*(n-1)) }

// Knee is where loss begins, and what comes after.
type Knee struct {
	// Load is the largest offered load up to which hardly a frame was lost
	// (KneeLoss), in frames/s; Best is the largest forwarding rate.
	Load float64 `json:"load"`
	Best float64 `json:"best"`
	// Beyond is the forwarding rate at the largest load, as a share of Best.
	Beyond float64 `json:"beyond"`
	// Most is how many times Best was offered.
	Most float64 `json:"most"`
}

const (
	// KneeLoss is the loss ratio up to which a load counts as carried: the
	// partial drop rate that the search for throughput uses by default.
	KneeLoss = 0.005
	// Collapsed is the share of its best rate below which a router beyond its
	// knee has collapsed.
	Collapsed = 0.8
)

// curves are all of a study's, from its valid trials.
func curves(s Spec, trials []Trial) []Curve {
	var out []Curve
	for _, w := range s.Sweep {
		for _, p := range s.Parts {
			if m, ok := curveMetric(p); ok && p.At == nil {
				out = append(out, s.overVariants(w, p, m, trials)...)
			}
		}
		out = append(out, s.overParts(w, trials)...)
	}
	return out
}

// curveMetric is what a part's curves show.
func curveMetric(p Part) (Metric, bool) {
	switch {
	case p.Search != nil || p.Flood != "":
		return Metric{}, false
	case p.Mode == testbed.Cost:
		return MetricNamed(CostNS)
	}
	return MetricNamed(OverloadRate)
}

// overVariants are the curves whose points are variants.
func (s Spec) overVariants(w Sweep, p Part, m Metric, trials []Trial) []Curve {
	var out []Curve
	for _, v := range s.Variants {
		if _, in := v.At[w.Parameter]; !in || v.Curve == "" || slices.ContainsFunc(out, func(c Curve) bool { return c.Name == v.Curve }) {
			continue
		}
		c := Curve{Parameter: w.Parameter, Label: w.Title(), Metric: m.Name, Part: p.Name, Name: v.Curve}
		var at []Variant
		for _, u := range s.Variants {
			if _, in := u.At[w.Parameter]; in && (u.Curve == v.Curve || u.Curve == "") {
				at = append(at, u)
			}
		}
		own := 0
		for _, u := range at {
			if spot, ok := spotOf(trials, p.Name, u.Name, m, u.At[w.Parameter], u.Name); ok {
				s.beside(&spot, trials, p, m)
				c.Points = append(c.Points, spot)
				if u.Curve == v.Curve {
					own++
				}
			}
		}
		c.sort()
		if own == 0 {
			continue // no more than what other curves begin with
		}
		c.fit(w, func(spot Spot) map[int]float64 { return byBlock(trials, p.Name, spot.Name, m.Name) })
		out = append(out, c)
	}
	return out
}

// overParts are the curves whose points are parts, one for each variant.
func (s Spec) overParts(w Sweep, trials []Trial) []Curve {
	parts, byLoad := s.partsOf(w)
	if len(parts) == 0 {
		return nil
	}
	m, ok := curveMetric(parts[0])
	if !ok {
		return nil
	}
	if byLoad {
		trials = s.atOwnLoads(parts, trials)
	}
	var out []Curve
	for _, v := range s.Variants {
		c := Curve{Parameter: w.Parameter, Label: w.Title(), Metric: m.Name, Name: v.Name, Offered: byLoad}
		for _, p := range parts {
			if spot, ok := spotOf(trials, p.Name, v.Name, m, p.At[w.Parameter], p.Name); ok {
				c.Points = append(c.Points, spot)
			}
		}
		if byLoad {
			c.offered(trials, v.Name)
		}
		c.sort()
		if len(c.Points) == 0 {
			continue
		}
		if byLoad {
			c.knee()
		} else {
			c.fit(w, func(spot Spot) map[int]float64 { return byBlock(trials, spot.Name, v.Name, m.Name) })
		}
		out = append(out, c)
	}
	return out
}

// partsOf are the parts along a sweep. Where it is of the offered load, a part
// that offers all it can is its end.
func (s Spec) partsOf(w Sweep) (parts []Part, byLoad bool) {
	for _, p := range s.Parts {
		if _, in := p.At[w.Parameter]; in {
			parts = append(parts, p)
			byLoad = byLoad || p.Rate != parts[0].Rate
		}
	}
	for _, p := range s.Parts {
		if byLoad && p.measuresCapacity() {
			parts = append(parts, p)
		}
	}
	return parts, byLoad
}

func (c *Curve) sort() {
	slices.SortStableFunc(c.Points, func(a, b Spot) int { return cmp.Compare(a.X, b.X) })
}

// byBlock are an arm's valid values of a metric by block.
func byBlock(trials []Trial, part, arm, metric string) map[int]float64 {
	out := map[int]float64{}
	for _, t := range trials {
		if v, ok := t.Metrics[metric]; ok && t.Valid && t.Part == part && t.Variant == arm {
			out[t.Block] = v
		}
	}
	return out
}

// sortedValues are the values in the order of their blocks.
func sortedValues(by map[int]float64) []float64 {
	blocks := make([]int, 0, len(by))
	for b := range by {
		blocks = append(blocks, b)
	}
	slices.Sort(blocks)
	out := make([]float64, len(blocks))
	for i, b := range blocks {
		out[i] = by[b]
	}
	return out
}

// spotOf is the mean of an arm in a part; ok is false without valid trials.
func spotOf(trials []Trial, part, arm string, m Metric, x float64, name string) (Spot, bool) {
	values := sortedValues(byBlock(trials, part, arm, m.Name))
	if len(values) == 0 {
		return Spot{}, false
	}
	t := stats.OneSample(values, 0.95)
	return Spot{X: x, Name: name, Value: t.Estimate, Low: stats.Num(t.Low), High: stats.Num(t.High), N: len(values)}, true
}

func average(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// beside makes a variant's interval that of its distance from the control in the
// same blocks: what the machine does to both is no part of it.
func (s Spec) beside(spot *Spot, trials []Trial, p Part, m Metric) {
	control := byBlock(trials, p.Name, s.Control, m.Name)
	apart := map[int]float64{}
	for b, v := range byBlock(trials, p.Name, spot.Name, m.Name) {
		if c, ok := control[b]; ok {
			apart[b] = v - c
		}
	}
	if len(apart) < 2 {
		return
	}
	t := stats.OneSample(sortedValues(apart), 0.95)
	half := (t.High - t.Low) / 2
	spot.Low, spot.High = stats.Num(spot.Value-half), stats.Num(spot.Value+half)
}

// offered puts points where the load was that really was offered.
func (c *Curve) offered(trials []Trial, arm string) {
	for i := range c.Points {
		p := &c.Points[i]
		if load := sortedValues(byBlock(trials, p.Name, arm, OfferedRate)); len(load) > 0 {
			p.X = average(load)
		}
		if loss := sortedValues(byBlock(trials, p.Name, arm, LossRatio)); len(loss) > 0 {
			p.Loss = stats.Num(average(loss))
		}
	}
}

// knee finds where loss begins and what is forwarded beyond.
func (c *Curve) knee() {
	k := Knee{}
	carried := true
	for _, p := range c.Points {
		loss, known := p.Loss.Get()
		if carried = carried && known && loss <= KneeLoss; carried {
			k.Load = p.X
		}
		k.Best = max(k.Best, p.Value)
	}
	last := c.Points[len(c.Points)-1]
	if k.Best <= 0 || carried || len(c.Points) < 3 {
		return // it was never offered too much
	}
	k.Beyond, k.Most = last.Value/k.Best, last.X/k.Best
	c.Knee = &k
}

// fit holds a curve against its sweep's law.
func (c *Curve) fit(w Sweep, blocks func(Spot) map[int]float64) {
	switch w.Fit {
	case FitLinear:
		c.fitLine(blocks)
	case FitUSL:
		c.USL = scales(c.Points, blocks)
	}
}

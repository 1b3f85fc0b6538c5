package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Arm holds one variant's values, one per block and in the order of blocks;
// NaN if the block's trial is missing or invalid.
type Arm struct {
	Name   string
	Values []float64
}

// Scale is the scale on which an effect is measured.
type Scale string

// The scales. Ratios are used whenever every value is positive.
const (
	LogRatio   Scale = "log-ratio"  // ln(variant/control)
	Difference Scale = "difference" // variant − control, in the metric's unit
)

// Design is how the values were collected.
type Design string

// The designs.
const (
	Blocks      Design = "blocks"      // randomised complete blocks: pairs share the drift
	Switchback  Design = "switchback"  // adjacent windows on one machine, in an order drawn for each pair
	Independent Design = "independent" // two samples without pairing
)

// Options of a comparison. Zero values mean: α 0.05, power 0.8, no margin,
// 10,000 draws.
type Options struct {
	Alpha         float64
	Power         float64 // of the minimum detectable effect
	MarginPercent float64 // smallest effect that matters; 0: equivalence is not tested
	// Share is set if values are shares of a whole, 0 to 1; their difference
	// decides. MarginPoints is then the margin in percentage points; 0 leaves
	// it to MarginPercent, relative to the control's share.
	Share        bool
	MarginPoints float64
	Better       Direction // of improvement of the metric
	// Bucket is the relative width of the buckets of the histogram from which values are read; 0 if
	// they are not read from one.
	Bucket float64
	Draws  int    // of the randomisation test, if it is not exact
	Seed   uint64 // for those draws
	// NoPlan omits DetectablePercent in blocks, which costs far more than the
	// rest: for callers that compare thousands of samples that will not be
	// repeated.
	NoPlan bool
	// Bare omits the estimate without selection: for callers that simulate thousands of studies.
	Bare bool
	// Of holds the words of CompareUnits; the zero value means connections.
	Of UnitNames
}

// UnitNames are the words for units and their clusters, and for how to get more of them.
type UnitNames struct{ Units, Clusters, More string }

func (o Options) filled() Options {
	o.Alpha = cmp.Or(o.Alpha, 0.05)
	o.Power = cmp.Or(o.Power, 0.8)
	o.Draws = cmp.Or(o.Draws, 10_000)
	o.Of = cmp.Or(o.Of, UnitNames{"connections", "clients", "run for longer"})
	return o
}

// Comparison is the comparison of a variant with its control. Effect and Holm's p decide.
type Comparison struct {
	Control, Variant   string
	Design             Design
	Method             string // the deciding test, in words
	Scale              Scale
	Share              bool // of a whole: reported in percentage points
	N                  int  // complete blocks, or the smaller sample
	NControl, NVariant int
	Effect             Test        // on Scale, at 1−α
	SD                 float64     // of block-wise effects (blocks) or pooled within samples, on Scale
	Unselected         float64     // the estimate corrected for selection, on Scale; NaN if no difference was found
	EffectPercent      Interval    // 100·(variant/control − 1)
	Difference         Test        // variant − control in the metric's unit, at 1−α
	P, PHolm           float64     // of "no difference"; Holm's over the comparisons made together
	Equivalence        Equivalence // against the margin, on Scale
	PEquivalentHolm    float64     // NaN without a margin
	Detectable         float64     // minimum detectable effect at the stated power, on Scale
	DetectablePercent  float64     // the same in percent of the control
	Verdict            Verdict
	ControlSum         Summary
	VariantSum         Summary
	Warnings           []Warning
	Late               Late // of Switchback, by Outlast
	Short              bool // the windows are too short for the effect

	rounding  float64        // of Switchback: the largest error from rounding alone, which pairs do not average out
	random    *Randomization // of Switchback: its test decides instead of Student's t
	means     *meanPair      // of the values on the difference scale, for the effect in percent
	something bool           // the control is shown to differ from zero, so effects can be relative to it
}

func (c *Comparison) warn(code Code, action, format string, args ...any) {
	c.Warnings = append(c.Warnings, Warning{Code: code, Message: fmt.Sprintf(format, args...), Action: action})
}

// CompareBlocks compares variants with their control in randomised complete blocks. Each
// variant is judged by Student's t on its own block-wise log ratios, so that a noisy
// variant neither hides nor fakes the effect of a quiet one; a block counts for a variant
// when both its trials are valid. P-values are corrected over the variants by Holm. An A/A
// arm is compared in a separate call: it is a check, not a hypothesis of the study.
func CompareBlocks(control Arm, variants []Arm, opt Options) []Comparison {
	return compareAll(len(variants), opt, func(i int, opt Options) Comparison { return compareBlocks(control, variants[i], opt) })
}

// compareAll compares the given number of variants one by one, and corrects over them.
func compareAll(variants int, opt Options, one func(i int, opt Options) Comparison) []Comparison {
	opt = opt.filled()
	out := make([]Comparison, variants)
	for i := range out {
		out[i] = one(i, opt)
	}
	correct(out, opt)
	return out
}

// newComparison returns a comparison of values a and b, before any test.
func newComparison(control, variant Arm, d Design, a, b []float64) Comparison {
	return Comparison{Control: control.Name, Variant: variant.Name, Design: d, N: min(len(a), len(b)), NControl: len(a), NVariant: len(b)}
}

func compareBlocks(control, variant Arm, opt Options) Comparison {
	c, a, b, d := pairs(control, variant, Blocks, opt, "%d of %d blocks lack a valid trial of %s or %s", "look at why those trials are invalid; resume the study to fill them")
	c.Effect = rounded(c.Effect, roundingOf(a, b, c.Scale, opt.Bucket))
	c.Method = "Student's t on block-wise " + c.Scale.plural()
	c.finishPairs(a, b, opt)
	warnBlocks(&c, d, opt)
	return c
}

// pairs begins a comparison of blocks or pairs of windows: a and b are the values of the complete
// ones, d their differences on the comparison's scale, which the deciding test uses.
func pairs(control, variant Arm, of Design, opt Options, lack, advice string) (c Comparison, a, b, d []float64) {
	a, b, missing := completePairs(control.Values, variant.Values)
	c = newComparison(control, variant, of, a, b)
	if missing > 0 {
		c.warn(MissingBlocks, advice, lack, missing, missing+len(a), control.Name, variant.Name)
	}
	x, y, scale := onScale(&c, a, b, opt)
	c.Scale, d = scale, subtract(y, x)
	_, variance := MeanVariance(d)
	c.SD = math.Sqrt(variance)
	c.Effect, c.Difference = OneSample(d, 1-opt.Alpha), OneSample(subtract(b, a), 1-opt.Alpha)
	return c, a, b, d
}

// finishPairs is finish, plus the effect that this number of pairs can detect.
func (c *Comparison) finishPairs(a, b []float64, opt Options) {
	c.finish(a, b, opt)
	if n := len(a); n >= 2 && !opt.NoPlan {
		c.detectable(MinimumDetectableEffect(c.SD, n, opt.Alpha, opt.Power))
	}
}

// finish fills in what the designs share, once Effect is known.
func (c *Comparison) finish(a, b []float64, opt Options) {
	sa, sb := ascending(a), ascending(b)
	c.ControlSum, c.VariantSum = summarise(a, sa), summarise(b, sb)
	c.something = c.Scale == LogRatio || notZero(a, 1-opt.Alpha)
	c.means = meansOf(a, b, c)
	c.conclude(opt)
}

// conclude fills in what follows from the effect alone.
func (c *Comparison) conclude(opt Options) {
	c.inPercent()
	c.P, c.PHolm = c.Effect.P, c.Effect.P
	c.PEquivalentHolm, c.Detectable, c.DetectablePercent = math.NaN(), math.NaN(), math.NaN()
	if low, high := c.margins(opt); high > low {
		c.Equivalence = c.equivalence(low, high, opt.Alpha)
		c.PEquivalentHolm = c.Equivalence.P
	}
}

// equivalence applies the comparison's own test.
func (c *Comparison) equivalence(low, high, alpha float64) Equivalence {
	if c.random == nil {
		return TOST(c.Effect, low, high, alpha)
	}
	return Equivalence{Low: low, High: high, P: c.random.Equivalent(low, high), Interval: c.random.Interval(1 - 2*alpha)}
}

// margins returns the equivalence margins on the comparison's scale; zero if
// none is stated, or if the margin is relative to zero.
func (c *Comparison) margins(opt Options) (low, high float64) {
	switch {
	case c.Share && opt.MarginPoints > 0:
		high = opt.MarginPoints / 100
	case opt.MarginPercent <= 0:
		return 0, 0
	case c.Scale == LogRatio:
		return RatioMargins(opt.MarginPercent)
	default:
		high = opt.MarginPercent / 100 * math.Abs(c.ControlSum.Mean)
	}
	return -high, high
}

// detectable records the smallest effect that the comparison can detect, on
// its scale.
func (c *Comparison) detectable(effect float64) {
	c.Detectable, c.DetectablePercent = effect, c.percent(effect)
}

// inPercent expresses the effect in percent too. What cannot be negative falls by at
// most 100 %, whatever the test's interval allows.
func (c *Comparison) inPercent() {
	c.EffectPercent = c.Effect.Map(c.percent)
	if c.Scale == Difference && c.something && c.Effect.Known() && c.means != nil {
		c.EffectPercent.Low, c.EffectPercent.High = c.means.percent(c.Effect.Level)
	}
	if c.Scale == Difference && min(c.ControlSum.Min, c.VariantSum.Min) >= 0 && c.EffectPercent.Low < -100 {
		c.EffectPercent.Low = -100
	}
}

// percent converts an effect on the comparison's scale to 100·(variant/control−1). It is
// NaN if the control's own interval contains zero, because the divisor is then unknown.
func (c *Comparison) percent(effect float64) float64 {
	switch {
	case c.Scale == LogRatio:
		return Percent(effect)
	case !c.something:
		return math.NaN()
	}
	p := 100 * effect / math.Abs(c.ControlSum.Mean)
	if c.Share {
		return max(-100, p) // a share can lose at most all of itself
	}
	return p
}

// notZero reports whether a sample's mean is shown to differ from zero.
func notZero(x []float64, level float64) bool {
	i := OneSample(x, level).Interval
	return i.Known() && !i.Contains(0)
}

// correct applies Holm's correction over comparisons made together, and names verdicts.
func correct(cs []Comparison, opt Options) {
	p, q := make([]float64, len(cs)), make([]float64, len(cs))
	for i, c := range cs {
		p[i], q[i] = c.P, c.PEquivalentHolm
	}
	p, q = Holm(p), Holm(q)
	for i := range cs {
		cs[i].PHolm, cs[i].PEquivalentHolm = p[i], q[i]
		cs[i].Verdict = Judge(cs[i].Effect.Estimate, p[i], q[i], opt.Alpha, opt.Better)
		if cs[i].Design == Blocks && cs[i].N < leastBlocks {
			cs[i].Verdict = Invalid
		}
		if cs[i].Unselected = math.NaN(); !opt.Bare {
			times := max(1, math.Round(p[i]/cs[i].P)) // the factor of Holm's correction
			cs[i].unselect([]int{cs[i].N}, []float64{opt.Alpha / times}, 0)
		}
	}
}

// leastBlocks is the smallest number of blocks for a verdict: two do not show how much blocks differ.
const leastBlocks = 3

// roundingOf returns the standard error, on a scale, that rounding leaves in the difference of two
// arms' means. If an arm scatters by less than its resolution, its values are rounded alike, and
// the mean of many is no more exact than one: the error of rounding to a resolution q is q/√12
// (Sheppard). If it scatters more, the scatter includes that error.
func roundingOf(a, b []float64, s Scale, bucket float64) float64 {
	q, sum := grid(slices.Concat(a, b)), 0.0
	for _, arm := range [][]float64{a, b} {
		mean, variance := MeanVariance(arm)
		if bucket > 0 {
			q = bucket * math.Abs(mean)
		}
		if ties := len(slices.Compact(ascending(arm))) < len(arm); !ties || variance >= q*q {
			continue
		}
		if s == LogRatio {
			sum += q * q / mean / mean / 12
		} else {
			sum += q * q / 12
		}
	}
	return math.Sqrt(sum)
}

// grid returns the coarsest resolution to which values may have been rounded: the largest number of
// which all are multiples. It is 0 if all values are equal, since their resolution is unknown.
func grid(values []float64) float64 {
	all := slices.Compact(ascending(values))
	if len(all) < 2 {
		return 0
	}
	least := 1e-9 * max(math.Abs(all[0]), math.Abs(all[len(all)-1]))
	q := 0.0
	for _, v := range all {
		for r := math.Abs(v); r > least; {
			q, r = r, math.Mod(q, r)
		}
	}
	return q
}

// rounded adds an error of rounding to a test whose standard error covers only its scatter.
func rounded(t Test, by float64) Test {
	if by == 0 {
		return t
	}
	return newTest(t.Estimate, math.Hypot(t.SE, by), t.DF, t.Level)
}

// onScale takes logarithms if all values have one, except for shares.
func onScale(c *Comparison, a, b []float64, opt Options) (x, y []float64, s Scale) {
	if c.Share = opt.Share; c.Share {
		return a, b, Difference
	}
	x, okA := logs(a)
	y, okB := logs(b)
	if okA && okB {
		return x, y, LogRatio
	}
	c.warn(NotPositive, "read the difference in the metric's unit; choose a metric without zeros to compare ratios",
		"some values are zero or negative and have no logarithm; differences decide")
	return a, b, Difference
}

func (s Scale) plural() string {
	if s == LogRatio {
		return "log ratios"
	}
	return "differences"
}

// completePairs returns the blocks in which both arms have a number.
func completePairs(control, variant []float64) (a, b []float64, missing int) {
	for i := range max(len(control), len(variant)) {
		if i >= len(control) || i >= len(variant) || !isNumber(control[i]) || !isNumber(variant[i]) {
			missing++
			continue
		}
		a, b = append(a, control[i]), append(b, variant[i])
	}
	return a, b, missing
}

func isNumber(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func subtract(y, x []float64) []float64 {
	d := make([]float64, len(x))
	for i := range d {
		d[i] = y[i] - x[i]
	}
	return d
}

// warnBlocks warns about what limits a comparison in blocks.
func warnBlocks(c *Comparison, d []float64, opt Options) {
	n := len(d)
	if n < 2 {
		c.warn(TooFew, "run at least 5 blocks", "%d complete blocks give no interval", n)
		return
	}
	if n < leastBlocks {
		c.warn(TooFew, "run at least 5 blocks", "%d complete blocks give no verdict", n)
	}
	if c.SD == 0 {
		c.warn(NoVariation, "check that the metric is measured again in every trial and not rounded",
			"all %d block-wise effects are equal", n)
	}
	if n < 5 {
		c.warn(FewBlocks, "run at least 5 blocks", "%d blocks: the interval leans on normality that so few cannot show", n)
	}
	if o := FindOutliers(d); len(o) > 0 {
		c.warn(Outliers, "look at these trials; they are kept", "far from the rest: %s", numbers("block", o))
	}
	c.warnPower(opt, func() string { return fmt.Sprintf("run %s blocks", blocksText(c, opt)) })
}

// warnPower warns if an effect as large as the margin would go unnoticed.
// action computes the advice, which takes long.
func (c *Comparison) warnPower(opt Options, action func() string) {
	switch {
	case c.Share && opt.MarginPoints > 0:
		if mde := points(c.Detectable); mde > opt.MarginPoints {
			c.warn(Underpowered, action(), "effects below %s points would go unnoticed; the margin is %s points", twoDigits(mde), twoDigits(opt.MarginPoints))
		}
	case opt.MarginPercent > 0 && c.DetectablePercent > opt.MarginPercent:
		c.warn(Underpowered, action(), "effects below %s %% would go unnoticed; the margin is %s %%", twoDigits(c.DetectablePercent), twoDigits(opt.MarginPercent))
	}
}

// planLimit is the number at which planning stops.
const planLimit = 10_000

func aboutHowMany(n int) string {
	if n == 0 {
		return fmt.Sprintf("more than %d", planLimit)
	}
	return fmt.Sprintf("about %d", n)
}

// blocksText answers "how many blocks for the margin?".
func blocksText(c *Comparison, opt Options) string {
	if c.Scale != LogRatio || opt.NoPlan {
		return "more"
	}
	return aboutHowMany(BlocksFor(c.SD, math.Log1p(opt.MarginPercent/100), opt.Alpha, opt.Power, planLimit))
}

// twoDigits prints a number to two digits, without an exponent when it is large.
func twoDigits(v float64) string {
	if math.Abs(v) >= 99.5 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2g", v)
}

// numbers lists indices of things, counted from 1.
func numbers(thing string, idx []int) string {
	s := thing + " "
	if len(idx) > 1 {
		s = thing + "s "
	}
	for i, v := range idx {
		if i > 0 {
			s += ", "
		}
		if i == 8 {
			return s + "…"
		}
		s += fmt.Sprint(v + 1)
	}
	return s
}

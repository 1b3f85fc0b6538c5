package stats

import "linerate/internal/show"

// Effect is the difference of a variant from its control, with its confidence
// interval, as in all documents: 100·(variant/control − 1) of a metric, and
// for shares of a whole also the difference in percentage points.
type Effect struct {
	EffectPercent Number `json:"effect_percent"`
	CILow         Number `json:"ci_low"`
	CIHigh        Number `json:"ci_high"`
	// EffectPoints is 100·(variant − control) of a share, which decides for
	// shares: the ratio of two shares near zero may be large and means nothing.
	EffectPoints Number `json:"effect_points,omitzero"`
	PointsLow    Number `json:"points_low,omitzero"`
	PointsHigh   Number `json:"points_high,omitzero"`
	// Adjusted is the effect corrected for the winner's curse, in percent, or in points for a share:
	// differences that were found look larger than they are. It is unknown if none was found.
	Adjusted Number `json:"effect_adjusted,omitzero"`
}

// EffectOf converts an interval in percent to an Effect.
func EffectOf(i Interval) Effect {
	return Effect{EffectPercent: Num(i.Estimate), CILow: Num(i.Low), CIHigh: Num(i.High)}
}

// reported returns the comparison's effect for documents.
func (c *Comparison) reported() Effect {
	e := EffectOf(c.EffectPercent)
	if e.Adjusted = Num(c.percent(c.Unselected)); c.Share {
		i := c.Effect.Map(func(d float64) float64 { return points(min(1, max(-1, d))) }) // Student's t is unbounded, shares are not
		e.EffectPoints, e.PointsLow, e.PointsHigh = Num(i.Estimate), Num(i.Low), Num(i.High)
		e.Adjusted = Num(points(c.Unselected))
	}
	return e
}

// DetectablePoints returns the minimum detectable effect of a share in
// percentage points; unknown for other metrics.
func (c *Comparison) DetectablePoints() Number {
	if !c.Share {
		return Number{}
	}
	return Num(points(c.Detectable))
}

// points converts a difference between shares to percentage points.
func points(difference float64) float64 { return 100 * difference }

// Unselected returns Adjusted alone, on the effect's scale.
func (e Effect) Unselected() Effect {
	if e.InPoints() {
		return Effect{EffectPoints: e.Adjusted}
	}
	return Effect{EffectPercent: e.Adjusted}
}

// InPoints reports whether the effect is in percentage points.
func (e Effect) InPoints() bool { return e.EffectPoints.Known() }

// Size returns the effect with its interval in the unit in which it is
// printed: percentage points for shares, else percent.
func (e Effect) Size() (effect, low, high Number) {
	if e.InPoints() {
		return e.EffectPoints, e.PointsLow, e.PointsHigh
	}
	return e.EffectPercent, e.CILow, e.CIHigh
}

// Text formats the effect: "+3.1 %", or "+3.1 points" for a share.
func (e Effect) Text() string {
	size, _, _ := e.Size()
	return show.Optional(size, e.print(show.SignedPercent, show.SignedPoints))
}

// Amount formats the effect without its direction: "3.1 %", "3.1 points".
func (e Effect) Amount() string {
	size, _, _ := e.Size()
	return show.Optional(size, e.print(show.Percent, show.Points))
}

func (e Effect) print(percent, points func(float64) string) func(float64) string {
	if e.InPoints() {
		return points
	}
	return percent
}

// Bounds formats the interval, "[+2.4, +3.9]", in the unit of Text.
func (e Effect) Bounds() string {
	_, low, high := e.Size()
	return show.OptionalInterval(low, high)
}

// TextWithBounds formats the effect with its interval, "+3.1 % [+2.4, +3.9]",
// as far as they are known.
func (e Effect) TextWithBounds() string {
	s := e.Text()
	if size, low, high := e.Size(); size.Known() && low.Known() && high.Known() {
		s += " " + e.Bounds()
	}
	return s
}

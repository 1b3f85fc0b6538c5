package stats

// A Code names one kind of warning, stable across releases.
type Code string

// The warnings that comparisons carry.
const (
	TooFew        Code = "too-few"        // no interval at all can be given
	FewBlocks     Code = "few-blocks"     // the t interval leans on normality
	MissingBlocks Code = "missing-blocks" // blocks left out: a trial is missing or invalid
	NotPositive   Code = "not-positive"   // no logarithm: differences were analysed instead of ratios
	NoVariation   Code = "no-variation"   // all values equal: rounded, cached, or a counter that stands still
	Outliers      Code = "outliers"       // flagged, never dropped
	Drift         Code = "drift"          // the values move with time
	Correlated    Code = "autocorrelated" // neighbours in time resemble each other
	UnequalSpread Code = "unequal-spread" // variances differ so much that pooling them misleads
	Underpowered  Code = "underpowered"   // the detectable effect is larger than the margin
	LateEffect    Code = "late-effect"    // the window before still acts on the next
	AADoubt       Code = "aa-doubt"       // the A/A arm allows effects as large
)

// Warning says what limits a result and what to do about it.
type Warning struct {
	Code    Code   `json:"code"`
	Message string `json:"message"` // what is the matter, with its numbers
	Action  string `json:"action"`  // what to do
}

func (w Warning) String() string { return w.Message + "; " + w.Action }

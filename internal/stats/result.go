package stats

// Result is the outcome of a comparison: the one record of an effect with its interval,
// p-values, n and verdict. Everything that stores or prints a comparison embeds it.
type Result struct {
	// N is how many complete blocks, or values of the smaller sample, the
	// comparison rests on.
	N int `json:"n"`
	Effect
	P       Number  `json:"p_value"`
	PHolm   Number  `json:"p_holm"` // corrected over the comparisons made together
	Verdict Verdict `json:"verdict"`
}

// Result is the comparison's outcome; what cannot be computed is unknown.
func (c *Comparison) Result() Result {
	return Result{N: c.N, Effect: c.reported(), P: Num(c.P), PHolm: Num(c.PHolm), Verdict: c.Verdict}
}

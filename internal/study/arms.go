package study

import "slices"

// ArmName is what people read for an arm.
func (r Results) ArmName(arm string) string {
	if arm == AA {
		return r.Control + " again (A/A)"
	}
	return arm
}

// Arms lists the variants of a part in the order of the verdicts, the control
// first and its second arm next.
func (r Results) Arms(part string) []string {
	out := []string{r.Control}
	add := func(arm string) {
		if !slices.Contains(out, arm) {
			out = append(out, arm)
		}
	}
	for _, t := range r.Trials {
		if t.Part == part && t.Variant == AA {
			add(AA)
		}
	}
	for _, v := range r.Verdicts {
		if v.Part == part {
			add(v.Variant)
		}
	}
	for _, t := range r.Trials {
		if t.Part == part && t.Unavailable == "" {
			add(t.Variant)
		}
	}
	return out
}

// Values are an arm's valid values of a metric in a part, without first exposures and rests.
func (r Results) Values(part, arm, metric string) []float64 {
	var out []float64
	for _, t := range r.Trials {
		if v, ok := t.Metrics[metric]; ok && t.Valid && t.Block > 0 && t.Part == part && t.Variant == arm {
			out = append(out, v)
		}
	}
	return out
}

// Measured lists the parts that have trials, in order.
func (r Results) Measured() []string {
	var out []string
	for _, t := range r.Trials {
		if !slices.Contains(out, t.Part) {
			out = append(out, t.Part)
		}
	}
	return out
}

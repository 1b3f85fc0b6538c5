package report

import "linerate/internal/study"

// primary is the goal's metric and part, from any verdict.
func primary(r study.Results) (metric study.Metric, part string) {
	for _, v := range r.Verdicts {
		if v.Primary {
			m, _ := r.Metric(v.Metric)
			return m, v.Part
		}
	}
	m, _ := r.Metric(r.AA.Metric)
	all := r.Measured()
	for _, p := range all {
		if len(r.Values(p, r.Control, m.Name)) > 0 {
			return m, p
		}
	}
	if len(all) > 0 { // where no trial was valid
		return m, all[0]
	}
	return m, ""
}

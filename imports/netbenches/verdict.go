package netbenches

import (
	"math"
	"path"
	"regexp"
	"slices"

	"linerate/internal/evidence"
	"linerate/internal/ledger"
	"linerate/internal/stats"
)

var labelRelease = regexp.MustCompile(`^(?:fbsd|FreeBSD-?)?([0-9]+(?:\.[0-9]+)?)(?:[.-](head|stable|current|routing|CURRENT|STABLE))?`)

// releaseOf reads a release out of a result folder's label, for series
// without .info: fbsd11.1-yandex is 11.1, fbsd12-head.r332390 is 12-head.
func releaseOf(label string) string {
	m := labelRelease.FindStringSubmatch(label)
	if m == nil {
		return ""
	}
	if m[2] != "" {
		return m[1] + "-" + m[2]
	}
	return m[1]
}

// verdicts compares the variants of every group, corrected over the study.
func (m *maker) verdicts() {
	for _, g := range groups(m.st.series) {
		control := g.control(m.im.first)
		m.compare(g.workload, control, slices.DeleteFunc(slices.Clone(g.series), func(s *Series) bool { return s == control }))
	}
	for _, pair := range m.im.refers[m.st.dir] {
		m.compare("", pair[0], []*Series{pair[1]})
	}
	m.correct()
}

// compare adds the verdicts of variants against one control.
func (m *maker) compare(workload string, control *Series, variants []*Series) {
	for _, metric := range []string{MetricRate, MetricEquilibrium} {
		c := arm(control, metric)
		if len(c.Values) < 2 {
			continue // one trial, such as a profiling run, is not a sample
		}
		for _, v := range variants {
			if a := arm(v, metric); len(a.Values) > 1 {
				m.b.Verdicts = append(m.b.Verdicts, m.verdict(metric, control, v, c, a))
			}
		}
	}
}

// arm is the valid values of a series.
func arm(s *Series, metric string) stats.Arm {
	a := stats.Arm{Name: variantName(s)}
	for _, it := range s.Iterations {
		j := it.Judge()
		if v, ok := j.Metrics[metric]; ok && j.Valid {
			a.Values = append(a.Values, v)
		}
	}
	return a
}

func (m *maker) verdict(metric string, control, variant *Series, c, a stats.Arm) ledger.Verdict {
	cmp := stats.CompareSamples(c, []stats.Arm{a}, stats.Options{Better: stats.HigherIsBetter, NoPlan: true})[0]
	v := ledger.FromComparison(&cmp)
	v.Study, v.Environment, v.Metric, v.Primary = m.id, m.env(variant), metric, true
	v.Better, v.Unit, v.Workload = stats.HigherIsBetter, unitOf(metric), m.workload(variant)
	v.Control = m.armName(control)
	v.Variant = variantName(variant)
	v.ID = m.id.Part(metric, string(m.im.ids[control.Study]), relative(control.Study, control.Dir), control.Key,
		string(m.im.ids[variant.Study]), relative(variant.Study, variant.Dir), variant.Key)
	v.ControlTrials, v.VariantTrials = m.im.trialIDs(control), m.im.trialIDs(variant)
	v.Changes = m.changes(control, variant)
	m.bounds(&v, control, variant)
	v.Published = m.im.publishedOf(control, variant)
	return v
}

func unitOf(metric string) string {
	if metric == MetricEquilibrium {
		return "Mb/s"
	}
	return "pps"
}

// armName says where a control of another folder lies.
func (m *maker) armName(s *Series) string {
	if s.Study == m.st.dir {
		return variantName(s)
	}
	rel := path.Base(s.Study)
	if topicDir(s.Study) != topicDir(m.st.dir) {
		rel = path.Join(path.Base(topicDir(s.Study)), rel)
	}
	return rel + "/" + variantName(s)
}

func (m *maker) env(s *Series) ledger.ID {
	if e, ok := m.envs[s]; ok {
		return e
	}
	return m.environment(s)
}

// trialIDs are the identifiers of a series' trials, whichever study holds it.
func (im *Import) trialIDs(s *Series) []ledger.ID {
	ids := make([]ledger.ID, len(s.Iterations))
	for i, it := range s.Iterations {
		ids[i] = im.trialID(s, it)
	}
	return ids
}

func (im *Import) trialID(s *Series, it *Iteration) ledger.ID {
	return im.ids[s.Study].Part(relative(s.Study, s.Dir), s.Key, it.Name)
}

// changes are what the variant's configuration set sets otherwise.
func (m *maker) changes(control, variant *Series) []ledger.Change {
	a, b := m.config(control), m.config(variant)
	out := []ledger.Change{}
	if a == nil || b == nil || a == b {
		return out
	}
	for _, c := range Diff(a, b) {
		out = append(out, ledger.Change{Tunable: c.Tunable, Related: c.Related, Before: c.Before, After: c.After, File: c.File})
	}
	return out
}

func (m *maker) config(s *Series) *Config {
	if c, ok := m.configs[s]; ok {
		return c
	}
	return m.im.t.configFor(s, m.im.aliases[s])
}

// bounds notes arms that the generator limited: where both are, the
// comparison says nothing about the DUT.
func (m *maker) bounds(v *ledger.Verdict, control, variant *Series) {
	a, b := mostly(control, FlagGenerator), mostly(variant, FlagGenerator)
	switch {
	case a && b:
		v.Verdict = stats.Invalid
		v.Flags = append(v.Flags, "generator-bound: both arms forward all that is offered")
	case a:
		v.Flags = append(v.Flags, "generator-bound: the control could forward more than was offered")
	case b:
		v.Flags = append(v.Flags, "generator-bound: the variant could forward more than was offered")
	}
	if mostly(control, FlagDrift) || mostly(variant, FlagDrift) {
		v.Flags = append(v.Flags, FlagDrift)
	}
}

func mostly(s *Series, flag string) bool {
	n := 0
	for _, it := range s.Iterations {
		if slices.Contains(it.Judge().Flags, flag) {
			n++
		}
	}
	return 2*n >= len(s.Iterations) && n > 0
}

// correct applies Holm over all comparisons of the study and renames the
// verdicts by it.
func (m *maker) correct() {
	ledger.CorrectFamily(m.b.Verdicts)
	for i := range m.b.Verdicts {
		v := &m.b.Verdicts[i]
		if p := v.Published; p != nil {
			p.Agrees = v.Verdict.Differs() == (p.Verdict == "difference")
			if !p.Agrees {
				m.im.Totals.Disagree++
			}
		}
	}
}

// publishedOf is what a README says of a pair, turned round where it compares
// the other way.
func (im *Import) publishedOf(control, variant *Series) *evidence.Published {
	if p := im.published[[2]*Series{control, variant}]; p != nil {
		c := *p
		return &c
	}
	p := im.published[[2]*Series{variant, control}]
	if p == nil {
		return nil
	}
	c := *p
	c.Percent = 100 * (1/(1+c.Percent/100) - 1)
	c.PercentError = math.Abs(c.PercentError)
	return &c
}

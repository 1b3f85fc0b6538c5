package ledger

import (
	"context"
	"errors"
	"slices"

	"linerate/internal/study"
)

// reassessment derives verdicts again without excluded trials, and caches
// what it read of each study.
type reassessment struct {
	ctx      context.Context
	s        Reader
	excluded map[ID]string // reason by identifier
	trials   map[ID][]Trial
	derived  map[ID]*derived
}

// derived holds a study's results without excluded trials; the verdicts are
// nil if its record is not in the ledger.
type derived struct {
	verdicts []study.Verdict
	dropped  map[arm]int
}

// without sets what the evidence is without excluded trials.
func (a *reassessment) without(e *Evidence) error {
	if e.Study.Kind == KindStudy {
		d, err := a.derive(&e.Study)
		if err != nil {
			return err
		}
		if e.Without, e.Dropped = d.verdict(&e.Verdict); e.Without != nil {
			return nil
		}
	}
	if _, ok := a.trials[e.Study.ID]; !ok {
		t, err := a.s.Trials(a.ctx, e.Study.ID)
		if err != nil {
			return err
		}
		a.trials[e.Study.ID] = t
	}
	e.Without, e.Dropped = Reassess(&e.Verdict, e.Study.Design, a.trials[e.Study.ID], a.excluded)
	return nil
}

// derive analyses a study's record as if its excluded trials were invalid.
func (a *reassessment) derive(st *Study) (*derived, error) {
	if d, ok := a.derived[st.ID]; ok {
		return d, nil
	}
	d := &derived{dropped: map[arm]int{}}
	a.derived[st.ID] = d
	r, err := OpenRecord(a.ctx, a.s, st)
	if errors.Is(err, ErrNotFound) {
		return d, nil
	}
	if err != nil {
		return nil, err
	}
	for i := range r.Trials {
		t := &r.Trials[i]
		if reason, out := a.excluded[trialID(st.ID, i)]; out && t.Valid {
			t.Valid, t.Reasons = false, append(slices.Clone(t.Reasons), study.Refusal{Gate: study.GateExcluded, Text: reason})
			d.dropped[arm{t.Part, t.Variant}]++
		}
	}
	d.verdicts = r.Results().Verdicts
	return d, nil
}

// verdict returns a stored verdict as derived again; nil if none of its
// trials was excluded, or if there is no such verdict.
func (d *derived) verdict(v *Verdict) (without *Verdict, dropped int) {
	dropped = d.dropped[arm{v.Workload, v.Control}] + d.dropped[arm{v.Workload, v.Variant}]
	i := slices.IndexFunc(d.verdicts, func(o study.Verdict) bool {
		return o.Part == v.Workload && o.Metric == v.Metric && o.Control == v.Control && o.Variant == v.Variant
	})
	if i < 0 || dropped == 0 {
		return nil, 0
	}
	w := fromStudy(&d.verdicts[i], d.verdicts)
	w.ID, w.Study, w.Environment, w.Changes, w.Flags = v.ID, v.Study, v.Environment, v.Changes, v.Flags
	w.ControlTrials, w.VariantTrials = v.ControlTrials, v.VariantTrials
	return &w, dropped
}

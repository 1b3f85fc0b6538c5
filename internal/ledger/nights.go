package ledger

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/study"
	"linerate/internal/trend"
)

// Nights are the runs of linerate's own studies, of one by its name or of all for "", as
// series are made of them: without what is excluded, and without the re-runs of changes.
func Nights(ctx context.Context, s Reader, name string) ([]trend.Run, error) {
	studies, err := s.Studies(ctx, Filter{Kind: KindStudy, Study: name})
	if err != nil {
		return nil, err
	}
	excluded := map[ID]bool{}
	all, err := s.Exclusions(ctx)
	if err != nil {
		return nil, err
	}
	for _, x := range all {
		excluded[x.Target] = true
	}
	environments := map[ID]Environment{}
	err = s.Rows(ctx, "environments", func(r StoredRow) error {
		var e Environment
		defer func() { environments[r.ID] = e }()
		return json.Unmarshal(r.Doc, &e)
	})
	if err != nil {
		return nil, fmt.Errorf("read environments: %w", err)
	}
	var runs []trend.Run
	known := false
	for i := range studies {
		st := &studies[i]
		known = known || st.Name == name
		if excluded[st.ID] || st.Started == nil || strings.HasPrefix(st.Name, trend.RerunPrefix) || name != "" && st.Name != name {
			continue
		}
		trials, err := s.Trials(ctx, st.ID)
		if err != nil {
			return nil, err
		}
		if len(trials) > 0 {
			runs = append(runs, night(st, environments[trials[0].Environment], trials, excluded))
		}
	}
	if name != "" && !known {
		return nil, hint.With(hint.Usagef("no file %s, and no study of that name in the ledger", name), "linerate ledger show lists the studies")
	}
	return runs, nil
}

// night is one run.
func night(st *Study, e Environment, trials []Trial, excluded map[ID]bool) trend.Run {
	r := trend.Run{
		ID: string(st.ID), Started: *st.Started, Release: strings.TrimSpace(e.OS + " " + e.Release), Linerate: e.Extra["linerate"],
		Study: st.Name, Question: st.Question, Subject: subject(e), Metric: st.Metric, Control: cmp.Or(st.Control, study.AA), Values: map[trend.Of]map[int]float64{},
	}
	for i := range trials {
		t := &trials[i]
		if !t.Valid || excluded[t.ID] {
			continue
		}
		for metric, v := range t.Metrics {
			of := trend.Of{Part: t.Workload, Variant: t.Variant, Metric: metric}
			if r.Values[of] == nil {
				r.Values[of] = map[int]float64{}
			}
			r.Values[of][t.Block] = v
		}
	}
	return r
}

// subject is the machine that was measured: what makes a run on another one no
// continuation. A kernel is none of it, since what a newer one changes is looked for.
func subject(e Environment) string {
	words := []string{cmp.Or(e.Extra["hostname"], e.Hardware)}
	for _, w := range []string{e.CPU, e.NIC} {
		if w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, ", ")
}

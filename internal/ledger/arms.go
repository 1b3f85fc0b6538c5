package ledger

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/stats"
)

// Arms are the valid trials of a study as samples of a metric, the control first. A
// metric or control that is "" is the study's own; workload is part of a workload's
// name, and trials of more than one are an error.
func Arms(ctx context.Context, s Reader, st *Study, metric, control, workload string) ([]stats.Arm, error) {
	trials, err := s.Trials(ctx, st.ID)
	if err != nil {
		return nil, err
	}
	metric = cmp.Or(metric, st.Metric)
	if control == "" {
		if ev, err := s.Evidence(ctx, Filter{Study: string(st.ID), Workload: workload, Limit: 1}); err == nil && len(ev) > 0 {
			control = ev[0].Verdict.Control
		}
	}
	var arms []stats.Arm
	var workloads []string
	for i := range trials {
		t := &trials[i]
		v, ok := t.Metrics[metric]
		if !t.Valid || !ok || !strings.Contains(strings.ToLower(t.Workload), strings.ToLower(workload)) {
			continue
		}
		if !slices.Contains(workloads, t.Workload) {
			workloads = append(workloads, t.Workload)
		}
		at := slices.IndexFunc(arms, func(a stats.Arm) bool { return a.Name == t.Variant })
		if at < 0 {
			at = len(arms)
			arms = append(arms, stats.Arm{Name: t.Variant})
		}
		arms[at].Values = append(arms[at].Values, v)
	}
	if len(workloads) > 1 {
		return nil, hint.With(hint.Usagef("%s has %d workloads", st.Name, len(workloads)), "choose one: %s", hint.Option("workload", strconv.Quote(workloads[0])))
	}
	slices.SortStableFunc(arms, func(a, b stats.Arm) int {
		switch {
		case a.Name == b.Name:
			return 0
		case a.Name == control:
			return -1
		case b.Name == control:
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return arms, nil
}

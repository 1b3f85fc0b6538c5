package ledger

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"linerate/internal/hint"
	"linerate/internal/list"
)

// Exclude excludes a trial, a verdict or a study from conclusions, with a
// reason. Target may be a unique prefix of an identifier. Nothing is removed:
// results are then shown with and without it.
func Exclude(ctx context.Context, s Store, target, reason, by string, at time.Time) error {
	reason = strings.TrimSpace(reason)
	if reason == "" {
		return hint.With(hint.Usagef("an exclusion needs a reason"), "say what is wrong with it: %s", hint.Option("reason", "\"…\""))
	}
	row, err := One(ctx, s, target, "trials", "verdicts", "studies")
	if err != nil {
		return err
	}
	x := Exclusion{Target: row.ID, Reason: reason, By: by, Time: at.UTC().Truncate(time.Second)}
	x.ID = x.id()
	n, err := s.Append(ctx, &Batch{Kind: "exclusion", Ref: string(x.ID), Time: at, Exclusions: []Exclusion{x}})
	if err == nil && n == 0 {
		return errors.New("it is already excluded for that reason")
	}
	return err
}

// id derives an exclusion's identifier from its content.
func (e *Exclusion) id() ID { return IDOf("exclusion", string(e.Target), e.Reason, e.By) }

// One finds the only record in the tables whose identifier begins with prefix.
func One(ctx context.Context, s Store, prefix string, tables ...string) (Row, error) {
	rows, err := s.Get(ctx, prefix)
	if err != nil {
		return Row{}, err
	}
	found := list.Filter(rows, func(r Row) bool { return slices.Contains(tables, r.Table) })
	switch len(found) {
	case 0:
		return Row{}, ErrNotFound
	case 1:
		return found[0], nil
	}
	return Row{}, hint.With(hint.Usagef("%q matches %d records", prefix, len(found)), "give more of the identifier")
}

// Evaluate returns the evidence that matches a filter, with exclusions
// applied.
func Evaluate(ctx context.Context, s Reader, f Filter) ([]Evidence, error) {
	ev, err := s.Evidence(ctx, f)
	if err != nil || len(ev) == 0 {
		return ev, err
	}
	list, err := s.Exclusions(ctx)
	if err != nil || len(list) == 0 {
		return ev, err
	}
	excluded := map[ID]string{}
	for _, x := range list {
		excluded[x.Target] = x.Reason
	}
	again := &reassessment{ctx: ctx, s: s, excluded: excluded, trials: map[ID][]Trial{}, derived: map[ID]*derived{}}
	for i := range ev {
		if err := ev[i].exclude(again); err != nil {
			return nil, err
		}
	}
	return ev, nil
}

// exclude applies exclusions to one piece of evidence.
func (e *Evidence) exclude(again *reassessment) error {
	excluded := again.excluded
	for _, id := range []ID{e.Verdict.ID, e.Study.ID} {
		if reason, ok := excluded[id]; ok {
			e.Excluded = reason
			return nil
		}
	}
	hit := false
	for _, ids := range [][]ID{e.Verdict.ControlTrials, e.Verdict.VariantTrials} {
		for _, id := range ids {
			_, out := excluded[id]
			hit = hit || out
		}
	}
	if !hit {
		return nil
	}
	return again.without(e)
}

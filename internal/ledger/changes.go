package ledger

import (
	"context"
	"slices"
	"time"

	"linerate/internal/study"
	"linerate/internal/study/record"
	"linerate/internal/trend"
	"linerate/internal/tunable"
)

// Changes are series over time, with what is known of their changes.
type Changes struct {
	Series []trend.Series
	Short  int // series of too few runs
	Reruns []Rerun
}

// Rerun is a study that lets both states of a change take turns.
type Rerun struct {
	Spec study.Spec
	// Path is where the record of the run behind the change was read, Host the machine
	// that it is of.
	Path, Host string
	Claimed    bool // it was run
}

// FindChanges looks for changes since a moment in the runs of studies (Nights), compares the
// runs on both sides, and makes the studies that can prove them.
func FindChanges(ctx context.Context, s Reader, name string, o trend.Options, since time.Time, known *tunable.Catalogue) (Changes, error) {
	runs, err := Nights(ctx, s, name)
	if err != nil {
		return Changes{}, err
	}
	var out Changes
	out.Series, out.Short = trend.Find(runs, o)
	trend.Since(out.Series, since)
	for i := range out.Series {
		for j := range out.Series[i].Changes {
			if err := out.interleave(ctx, s, &out.Series[i], &out.Series[i].Changes[j], known); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// interleave finds out whether both states of a change can take turns, and whether they
// have.
func (all *Changes) interleave(ctx context.Context, s Reader, of *trend.Series, c *trend.Change, known *tunable.Catalogue) error {
	var path [2]string
	var records [2]*record.Record
	for i, run := range []trend.Run{c.Before, c.After} {
		studies, err := s.Studies(ctx, Filter{Study: run.ID})
		if err != nil || len(studies) == 0 {
			return err
		}
		path[i] = studies[0].Path
		if records[i], err = OpenRecord(ctx, s, &studies[0]); err != nil {
			return err
		}
	}
	spec, ok := c.Interleave(of.Of, records[0], records[1], known)
	if !ok {
		return nil
	}
	claim, err := claimOf(ctx, s, c.Rerun, of.Of)
	if err != nil {
		return err
	}
	if claim != nil {
		c.Settle(*claim)
	}
	if !slices.ContainsFunc(all.Reruns, func(r Rerun) bool { return r.Spec.Name == spec.Name }) {
		all.Reruns = append(all.Reruns, Rerun{spec, path[1], records[1].Environment.Hostname, claim != nil})
	}
	return nil
}

// claimOf is what the newest run of a re-run came to; nil where there is none.
func claimOf(ctx context.Context, s Reader, rerun string, of trend.Of) (claim *trend.Claim, err error) {
	evidence, err := Evaluate(ctx, s, Filter{Kind: KindStudy, Study: rerun, Metric: of.Metric, Workload: of.Part})
	for _, e := range evidence {
		v := &e.Verdict
		if e.Without != nil {
			v = e.Without
		}
		if e.Excluded == "" && e.Study.Name == rerun && v.Workload == of.Part && v.Variant == trend.AfterArm {
			claim = &trend.Claim{Study: string(e.Study.ID), Verdict: v.Verdict, Effect: v.Effect}
		}
	}
	return claim, err
}

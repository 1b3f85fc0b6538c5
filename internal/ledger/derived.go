package ledger

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"linerate/internal/list"
	"linerate/internal/stats"
	"linerate/internal/study/record"
)

// Check checks that a batch is what entry e after prev was sealed with: the same rows,
// byte for byte, and the same link of the chain.
func (b *Batch) Check(e, prev Entry) error {
	rows, err := b.Rows()
	if err != nil {
		return err
	}
	want := Seal(b, rows, prev)
	switch {
	case e.Seq != want.Seq || e.Prev != want.Prev:
		return fmt.Errorf("entry %d does not continue entry %d: entries are missing, or out of order", e.Seq, prev.Seq)
	case e.Rows != want.Rows:
		return fmt.Errorf("entry %d has %d records, and was sealed with %d", e.Seq, want.Rows, e.Rows)
	case e.Digest != want.Digest:
		return fmt.Errorf("entry %d (%s %.12s): a record was changed after it was sealed", e.Seq, e.Kind, e.Ref)
	case e.Hash != want.Hash || !e.Time.Equal(want.Time) || e.Time.Format(time.RFC3339Nano) != want.Time.Format(time.RFC3339Nano):
		return fmt.Errorf("entry %d (%s %.12s) was changed after it was sealed", e.Seq, e.Kind, e.Ref)
	}
	return nil
}

// CheckDerived derives the conclusions of batches from elsewhere anew: trials and
// verdicts of linerate's own studies from their records, other verdicts from their
// trials, and the identifiers of exclusions. The error names what does not follow.
func CheckDerived(batches []*Batch, blobs map[string]*Blob) error {
	trials := map[ID]*Trial{}
	for _, b := range batches {
		for i := range b.Trials {
			trials[b.Trials[i].ID] = &b.Trials[i]
		}
	}
	for n, b := range batches {
		err := b.checkExclusions()
		if err == nil && len(b.Studies) == 1 && (b.Studies[0].Kind == KindStudy || b.Studies[0].Kind == KindRollout) {
			err = b.checkRecord(blobs)
		} else if err == nil {
			err = b.checkVerdicts(trials)
		}
		if err != nil {
			return fmt.Errorf("entry %d (%s %.12s): %w", n+1, b.Kind, b.Ref, err)
		}
	}
	return nil
}

func (b *Batch) checkExclusions() error {
	for _, x := range b.Exclusions {
		if x.ID != x.id() {
			return fmt.Errorf("exclusion %s: its name does not match its content", x.ID.Short())
		}
	}
	return nil
}

// checkRecord compares the batch of one of linerate's own studies with what its record
// gives, and adopts the derived verdicts.
func (b *Batch) checkRecord(blobs map[string]*Blob) error {
	files := record.Memory{}
	for _, f := range b.Sources {
		if !f.OfRecord() {
			continue
		}
		blob := blobs[f.SHA256]
		if blob == nil {
			return fmt.Errorf("the study's file %s is missing, so its verdicts cannot be derived", f.Path)
		}
		data, err := blob.Bytes()
		if err != nil {
			return err
		}
		files[f.Path] = data
	}
	own, err := derivedFrom(files, &b.Studies[0])
	if err != nil {
		return err
	}
	if own.Ref != b.Ref || own.Studies[0].ID != b.Studies[0].ID {
		return errors.New("the study is not named by the files of its record")
	}
	if err := sameTrials(b.Trials, own.Trials); err != nil {
		return err
	}
	if len(own.Verdicts) != len(b.Verdicts) {
		return fmt.Errorf("it has %d verdicts, and its record gives %d", len(b.Verdicts), len(own.Verdicts))
	}
	for i := range b.Verdicts {
		v := &b.Verdicts[i]
		at := slices.IndexFunc(own.Verdicts, func(o Verdict) bool { return o.ID == v.ID })
		if at < 0 {
			return fmt.Errorf("verdict %s does not follow from its record", v.ID.Short())
		}
		if err := v.sameOutcome(&own.Verdicts[at]); err != nil {
			return err
		}
	}
	b.Verdicts = own.Verdicts
	return nil
}

// derivedFrom derives a study's batch from the files of its record.
func derivedFrom(files record.Memory, st *Study) (*Batch, error) {
	if st.Kind == KindRollout {
		return rolloutOf(files[rolloutFile])
	}
	r, err := record.Read(files, st.Place)
	if err != nil {
		return nil, err
	}
	return OfRecord(r, st.Path)
}

// sameTrials refuses trials that differ from those of the record.
func sameTrials(given, own []Trial) error {
	a, b := Batch{Trials: given}, Batch{Trials: own}
	rows, err := a.Rows()
	if err != nil {
		return err
	}
	want, err := b.Rows()
	if err != nil {
		return err
	}
	if len(rows) != len(want) {
		return fmt.Errorf("it has %d trials, and its record has %d", len(rows), len(want))
	}
	for i := range rows {
		if rows[i].Digest != want[i].Digest {
			return fmt.Errorf("trial %s is not what the record has", rows[i].ID.Short())
		}
	}
	return nil
}

// checkVerdicts derives the verdicts of imported results from their trials.
func (b *Batch) checkVerdicts(trials map[ID]*Trial) error {
	derived := make([]Verdict, len(b.Verdicts))
	for i := range b.Verdicts {
		v := &b.Verdicts[i]
		for _, id := range slices.Concat(v.ControlTrials, v.VariantTrials) {
			if trials[id] == nil {
				return fmt.Errorf("verdict %s rests on trial %s, which is missing", v.ID.Short(), id.Short())
			}
		}
		control, _ := values(v.Metric, v.ControlTrials, trials, nil)
		variant, _ := values(v.Metric, v.VariantTrials, trials, nil)
		c := compareAgain(v, b.design(v.Study), control, variant, func(int) bool { return true })
		derived[i] = FromComparison(&c)
	}
	if slices.ContainsFunc(b.Verdicts, func(v Verdict) bool { return v.Family > 1 }) {
		CorrectFamily(derived)
	}
	for i := range b.Verdicts {
		v := &b.Verdicts[i]
		if err := v.sameOutcome(&derived[i]); err != nil {
			return err
		}
		if v.Verdict != stats.Invalid {
			v.comesTo(derived[i].Result())
		}
	}
	return nil
}

func (b *Batch) design(id ID) string {
	s, _ := list.Find(b.Studies, func(s Study) bool { return s.ID == id })
	return s.Design
}

// sameOutcome refuses a verdict that differs from the derived one. "Invalid" asserts
// nothing, and may have reasons that trials do not show.
func (v *Verdict) sameOutcome(derived *Verdict) error {
	if v.Verdict == stats.Invalid {
		return nil
	}
	if v.Verdict != derived.Verdict || v.N != derived.N || !v.near(derived) {
		return fmt.Errorf("verdict %s on %s says %s, %s (n %d); its trials give %s, %s (n %d)", v.ID.Short(), v.Variant,
			v.Verdict, v.TextWithBounds(), v.N, derived.Verdict, derived.TextWithBounds(), derived.N)
	}
	return nil
}

// near compares the effects; intervals may differ between versions of the analysis.
func (v *Verdict) near(o *Verdict) bool {
	for _, p := range [][2]stats.Number{{v.EffectPercent, o.EffectPercent}, {v.EffectPoints, o.EffectPoints}, {v.ControlMean, o.ControlMean}, {v.VariantMean, o.VariantMean}} {
		a, b := p[0], p[1]
		if a.Known() != b.Known() || a.Known() && math.Abs(a.Float()-b.Float()) > 1e-9+1e-6*max(math.Abs(a.Float()), math.Abs(b.Float())) {
			return false
		}
	}
	return true
}

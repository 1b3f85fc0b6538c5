package ledger

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"linerate/internal/evidence"
	"linerate/internal/list"
	"linerate/internal/stats"
	"linerate/internal/tunable"
)

// Line is one piece of evidence, flattened, as `ledger query` prints it: an evidence
// row with what only a ledger knows.
type Line struct {
	evidence.Row
	VerdictID   ID           `json:"verdict_id"`
	Kind        string       `json:"kind"`    // of study
	Changes     []Change     `json:"changes"` // all settings that the study changed
	Revision    string       `json:"revision"`
	Hardware    string       `json:"hardware"`
	CPU         string       `json:"cpu"`
	Unit        string       `json:"unit"`
	ControlMean stats.Number `json:"control_mean"`
	VariantMean stats.Number `json:"variant_mean"`
	EffectNS    stats.Number `json:"effect_ns"`
	Family      int          `json:"family"`
	// MarginPercent is the equivalence margin; PEquivalent is the p-value of
	// "differs by the margin or more", corrected by Holm.
	MarginPercent float64       `json:"margin_percent"`
	MarginPoints  float64       `json:"margin_points,omitempty"` // the margin of a share, in percentage points
	PEquivalent   stats.Number  `json:"p_equivalent_holm"`
	MDE           stats.Number  `json:"minimum_detectable_effect_percent"`
	Method        string        `json:"method"`
	Without       *Line         `json:"without_excluded"`
	AA            stats.Verdict `json:"aa"`
}

// Flatten converts evidence to a line. Of several changes it picks the one
// that names contains; without names, the only one.
func Flatten(e *Evidence, names []string) Line {
	v, s, env := &e.Verdict, &e.Study, &e.Environment
	l := Line{
		Row: evidence.Row{ID: string(v.ID), Workload: v.Workload, Study: s.Name, Source: s.Path, StudyID: string(s.ID), Label: s.Label, Excluded: e.Excluded, Dropped: e.Dropped,
			Subject: evidence.Subject{Alone: sameIdea(v.Changes), Changes: len(v.Changes), OS: env.OS, Release: env.Release, CPU: strings.TrimSpace(cmp.Or(env.CPU, env.Hardware)), Cores: env.Cores,
				NIC: env.NIC, Driver: env.Driver, MachineID: cmp.Or(env.Extra["machine_id"], env.Extra["hostname"], env.Hardware)}},
		VerdictID: v.ID, Kind: s.Kind, Changes: v.Changes, Revision: env.Revision, Hardware: env.Hardware, CPU: env.CPU, AA: s.AA,
	}
	if s.Started != nil {
		l.Started = *s.Started
	}
	l.verdict(v)
	if s.AA.Differs() {
		l.Flags = append(l.Flags, "distrust it: in this study the control differs from itself (A/A)")
	}
	l.pick(names)
	if e.Without != nil {
		w := l
		w.verdict(e.Without)
		w.Published = nil
		l.Without, l.Row.Without = &w, &w.Row
	}
	return l
}

func (l *Line) verdict(v *Verdict) {
	l.Metric, l.Primary, l.Unit, l.Better, l.Control, l.Variant = v.Metric, v.Primary, v.Unit, v.Better, v.Control, v.Variant
	l.ControlMean, l.VariantMean, l.Result = v.ControlMean, v.VariantMean, v.Result()
	l.EffectNS, l.Family = v.EffectNS, v.Family
	l.MarginPercent, l.MarginPoints, l.PEquivalent = v.MarginPercent, v.MarginPoints, v.PEquivalent
	l.MDE, l.Method, l.Published = v.MDE, v.Method, v.Published
	l.Flags = append(slices.Clone(v.Flags), v.Warnings...)
}

// pick selects the change that was asked for.
func (l *Line) pick(names []string) {
	if len(names) == 0 {
		if len(l.Changes) == 1 {
			l.Tunable, l.Before, l.After = l.Changes[0].Tunable, l.Changes[0].Before, l.Changes[0].After
		}
		return
	}
	for i := range l.Changes {
		c := &l.Changes[i]
		for _, n := range names {
			if c.speaksOf(evidence.FoldName(n)) {
				l.Tunable, l.Before, l.After = c.Tunable, c.Before, c.After
				return
			}
		}
	}
}

func (c *Change) speaksOf(folded string) bool {
	if evidence.FoldName(c.Tunable) == folded {
		return true
	}
	return slices.ContainsFunc(c.Related, func(r string) bool { return evidence.FoldName(r) == folded })
}

// sameIdea reports whether the changes are one treatment: one setting, or one
// idea set to one value in several places (queues of both directions, the
// same limit for three drivers).
func sameIdea(cs []Change) bool {
	for i := 1; i < len(cs); i++ {
		a, b := &cs[0], &cs[i]
		if a.Before != b.Before || a.After != b.After || !evidence.Akin(a.Tunable, b.Tunable) && !slices.ContainsFunc(a.Related, func(r string) bool { return slices.Contains(b.Related, r) }) {
			return false
		}
	}
	return len(cs) > 0
}

// Sort orders lines for side-by-side reading: by hardware, release and
// workload.
func Sort(lines []Line) {
	list.Sort(lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(a.Hardware, b.Hardware), cmp.Compare(a.NIC, b.NIC), cmp.Compare(a.Release, b.Release),
			cmp.Compare(a.Study, b.Study), cmp.Compare(a.Workload, b.Workload), cmp.Compare(a.Variant, b.Variant))
	})
}

// Rows converts lines to evidence rows.
func Rows(lines []Line) []evidence.Row {
	return list.Map(lines, func(l Line) evidence.Row { return l.Row })
}

// Lines returns the evidence that matches a filter, sorted for reading.
func Lines(ctx context.Context, s Reader, f Filter) ([]Line, error) {
	if f.Verdict != "" {
		if _, err := stats.ParseVerdict(string(f.Verdict)); err != nil {
			return nil, err
		}
	}
	ev, err := Evaluate(ctx, s, f)
	if err != nil {
		return nil, err
	}
	names := slices.Clone(f.Names)
	if f.Tunable != "" {
		names = append(names, f.Tunable)
	}
	lines := make([]Line, len(ev))
	for i := range ev {
		lines[i] = Flatten(&ev[i], names)
	}
	Sort(lines)
	return lines, nil
}

// Known returns a ledger's verdicts on tunables of the catalogue, under the
// catalogue's names, each without excluded trials.
func Known(ctx context.Context, s Reader, c *tunable.Catalogue) ([]evidence.Row, error) {
	names, err := s.Tunables(ctx)
	if err != nil {
		return nil, err
	}
	var rows []evidence.Row
	for _, name := range slices.Sorted(maps.Keys(names)) {
		lines, err := Lines(ctx, s, Filter{Names: []string{name}})
		if err != nil {
			return nil, err
		}
		for i := range lines {
			// The ledger also finds a setting by its other names; take only
			// rows of the setting itself.
			row := lines[i].Standing()
			r, ok := c.Lookup(strings.ToLower(row.OS), row.Tunable)
			if !ok || !strings.EqualFold(row.Tunable, name) || row.Excluded != "" || !row.Tells(r) {
				continue
			}
			row.Tunable = r.Name
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// About returns a ledger's evidence on a tunable, and on others of the same
// concept on its system.
func About(ctx context.Context, s Reader, c *tunable.Catalogue, r *tunable.Record) (mine, siblings []evidence.Row, err error) {
	lines, err := Lines(ctx, s, Filter{Names: []string{r.Name}})
	if err != nil || r.Concept == "" {
		return Rows(lines), nil, err
	}
	names := []string{r.Concept}
	for _, o := range c.WithConcept(r.Concept) {
		if o.Name != r.Name {
			names = append(names, o.Name)
		}
	}
	others, err := Lines(ctx, s, Filter{Names: names})
	return Rows(lines), Rows(others), err
}

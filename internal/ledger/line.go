package ledger

import (
	"cmp"
	"slices"
	"strings"

	"linerate/internal/stats"
)

// Line is one piece of evidence, flat: what `ledger query`, `ledger export`
// and `explain` print.
type Line struct {
	Tunable     string          `json:"tunable,omitempty"` // the one asked for, as the study set it
	Before      string          `json:"before"`            // "" for the system's default
	After       string          `json:"after"`
	Alone       bool            `json:"alone"`   // nothing else was changed with it
	Changes     []Change        `json:"changes"` // all that was
	OS          string          `json:"os"`
	Release     string          `json:"release"`
	Revision    string          `json:"revision"`
	Hardware    string          `json:"hardware"`
	CPU         string          `json:"cpu"`
	Cores       int             `json:"cores"`
	NIC         string          `json:"nic"`
	Driver      string          `json:"driver"`
	Workload    string          `json:"workload"`
	Study       string          `json:"study"`
	StudyID     string          `json:"study_id"`
	Kind        string          `json:"kind"`
	VerdictID   string          `json:"verdict_id"`
	Source      string          `json:"source"` // where the study was read
	Metric      string          `json:"metric"`
	Primary     bool            `json:"primary"`
	Unit        string          `json:"unit"`
	Better      stats.Direction `json:"better"`
	Control     string          `json:"control"`
	Variant     string          `json:"variant"`
	ControlMean stats.Number    `json:"control_mean"`
	VariantMean stats.Number    `json:"variant_mean"`
	stats.Effect
	EffectNS stats.Number  `json:"effect_ns"`
	N        int           `json:"n"`
	P        stats.Number  `json:"p_value"`
	PHolm    stats.Number  `json:"p_holm"`
	Family   int           `json:"family"`
	Verdict  stats.Verdict `json:"verdict"`
	// MarginPercent is the equivalence margin, PEquivalent the p-value of
	// "differs by the margin or more", corrected by Holm.
	MarginPercent float64       `json:"margin_percent"`
	PEquivalent   stats.Number  `json:"p_equivalent_holm"`
	MDE           stats.Number  `json:"minimum_detectable_effect_percent"`
	Method        string        `json:"method"`
	Label         string        `json:"label"` // what the number is not
	Flags         []string      `json:"flags"`
	Published     *Published    `json:"published"` // what its author concluded; null if nothing
	Excluded      string        `json:"excluded"`  // reason, when it does not count
	Without       *Line         `json:"without_excluded"`
	Dropped       int           `json:"trials_excluded"`
	AA            stats.Verdict `json:"aa"`
}

// Flatten turns evidence into a line. Of several changes the one that names
// asks for is told; without names, the only one.
func Flatten(e *Evidence, names []string) Line {
	v, s, env := &e.Verdict, &e.Study, &e.Environment
	l := Line{
		Changes: v.Changes, OS: env.OS, Release: env.Release, Revision: env.Revision, Hardware: env.Hardware, CPU: env.CPU,
		Cores: env.Cores, NIC: env.NIC, Driver: env.Driver, Workload: v.Workload, Study: s.Name, StudyID: s.ID, Kind: s.Kind,
		VerdictID: v.ID, Source: s.Path, Label: s.Label, Excluded: e.Excluded, Dropped: e.Dropped, AA: s.AA,
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
		l.Without = &w
	}
	return l
}

func (l *Line) verdict(v *Verdict) {
	l.Metric, l.Primary, l.Unit, l.Better, l.Control, l.Variant = v.Metric, v.Primary, v.Unit, v.Better, v.Control, v.Variant
	l.ControlMean, l.VariantMean, l.Effect = v.ControlMean, v.VariantMean, v.Effect
	l.EffectNS, l.N, l.P, l.PHolm, l.Family, l.Verdict = v.EffectNS, v.N, v.P, v.PHolm, v.Family, v.Verdict
	l.MarginPercent, l.PEquivalent = v.MarginPercent, v.PEquivalent
	l.MDE, l.Method, l.Published = v.MDE, v.Method, v.Published
	l.Flags = append(slices.Clone(v.Flags), v.Warnings...)
}

// pick finds the change that was asked for.
func (l *Line) pick(names []string) {
	l.Alone = sameIdea(l.Changes)
	if len(names) == 0 {
		if len(l.Changes) == 1 {
			l.Tunable, l.Before, l.After = l.Changes[0].Tunable, l.Changes[0].Before, l.Changes[0].After
		}
		return
	}
	for i := range l.Changes {
		c := &l.Changes[i]
		for _, n := range names {
			if c.speaksOf(FoldName(n)) {
				l.Tunable, l.Before, l.After = c.Tunable, c.Before, c.After
				return
			}
		}
	}
}

func (c *Change) speaksOf(folded string) bool {
	if FoldName(c.Tunable) == folded {
		return true
	}
	return slices.ContainsFunc(c.Related, func(r string) bool { return FoldName(r) == folded })
}

// sameIdea says that the changes are one treatment: one setting, or one idea
// set to one value in several places (queues of both directions, the same
// limit of three drivers).
func sameIdea(cs []Change) bool {
	for i := 1; i < len(cs); i++ {
		a, b := &cs[0], &cs[i]
		if a.Before != b.Before || a.After != b.After || !akin(a.Tunable, b.Tunable) && !slices.ContainsFunc(a.Related, func(r string) bool { return slices.Contains(b.Related, r) }) {
			return false
		}
	}
	return len(cs) > 0
}

// akin says that two names differ in their driver only.
func akin(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	if len(x) != len(y) || len(x) < 3 || x[0] != y[0] {
		return false
	}
	return slices.Equal(x[2:], y[2:])
}

// Sort orders lines for reading side by side: hardware, then release, then
// workload.
func Sort(lines []Line) {
	slices.SortStableFunc(lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(a.Hardware, b.Hardware), cmp.Compare(a.NIC, b.NIC), cmp.Compare(a.Release, b.Release),
			cmp.Compare(a.Study, b.Study), cmp.Compare(a.Workload, b.Workload), cmp.Compare(a.Variant, b.Variant))
	})
}

// Disagreement tells whether evidence conflicts: some shows a gain and some a
// loss. Excluded and invalid lines do not count.
func Disagreement(lines []Line) bool {
	var better, worse bool
	for i := range lines {
		if lines[i].Excluded != "" {
			continue
		}
		better = better || lines[i].Verdict == stats.Better
		worse = worse || lines[i].Verdict == stats.Worse
	}
	return better && worse
}

// EffectText is the line's effect for people: "+3.1 % [+2.4, +3.9]".
func (l *Line) EffectText() string {
	s := l.Text()
	if size, low, high := l.Size(); size.Known() && low.Known() && high.Known() {
		s += " " + l.Bounds()
	}
	return s
}

// Setting is what was set, for people: "default → 0".
func (l *Line) Setting() string {
	if l.Tunable == "" {
		return l.Control + " → " + l.Variant
	}
	return orDefault(l.Before) + " → " + orDefault(l.After)
}

func orDefault(s string) string {
	if s == "" {
		return "default"
	}
	return s
}

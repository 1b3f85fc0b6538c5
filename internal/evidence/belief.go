package evidence

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/tunable"
)

// Says is the conclusion from all studies of a change.
type Says string

// The conclusions.
const (
	// Helps: for a primary metric, the prediction for the host excludes harm, and
	// nothing speaks against the change.
	Helps Says = "helps"
	// Harms: the mean of a metric, primary or guarded, is shown to be worse.
	Harms Says = "harms"
	// Depends: some studies found it better, some worse, and the prediction includes both.
	Depends Says = "depends"
	// NoGain: none of the others.
	NoGain Says = "no gain shown"
	// Elsewhere: most conclusive studies found it better, but all on other machines.
	Elsewhere Says = "helped elsewhere"
	// Untold: no verdict can be pooled.
	Untold Says = "not measured"
	// Halted: a guardrail ended a study of the change.
	Halted Says = "stopped"
)

// inWords begins the text of each conclusion.
var inWords = map[Says]string{
	Helps: "It helps", Harms: "It does harm", Depends: "It depends on the machine or the workload", NoGain: "No gain is shown",
	Elsewhere: "It helped on other machines: measure it here", Untold: "Nothing was measured that tells", Halted: "A guardrail ended a study of it",
}

// Change pools everything measured about one change of a setting. Pages, plans and
// documents all show this result.
type Change struct {
	Tunable string `json:"tunable"`
	Before  string `json:"before"` // "" for the system's default
	After   string `json:"after"`
	Says    Says   `json:"says"`
	Text    string `json:"text"` // in words
	// Metrics are pooled separately, primary ones first. Only primary ones can
	// support a change; any can speak against it.
	Metrics []Pooled `json:"metrics"`
	// Stopped lists studies that a guardrail ended: they measured nothing, but are a warning.
	Stopped []string `json:"stopped,omitempty"`
	// LeftOut lists verdicts that were not pooled, and why.
	LeftOut  []LeftOut `json:"left_out,omitempty"`
	Verdicts []string  `json:"verdicts"` // ids of the pooled ones
}

// LeftOut counts verdicts that were not pooled for the same reason.
type LeftOut struct {
	Why string `json:"why"`
	N   int    `json:"n"`
}

// Pooled is the result of a change's studies for one metric.
type Pooled struct {
	Metric  string `json:"metric"`
	Primary bool   `json:"primary"`
	// Workload is set for secondary metrics, so that one part's results cannot hide another's.
	Workload string                `json:"workload,omitempty"`
	Counts   map[stats.Verdict]int `json:"verdicts"`
	Groups   []Among               `json:"groups"` // the most similar machines first
	// Expected is the effect on the host, or on one more machine if there is no
	// host, with its prediction interval.
	Expected stats.Effect `json:"expected"`

	label         string
	better, worse bool // Expected excludes harm; the mean of a near group is shown to be harm
	both          bool // some near studies found it better, some worse
	near          bool // it includes studies of machines near the host
	gains         bool // most conclusive studies found it better, and so does the mean
}

// Among is the mean effect on machines of equal similarity to the host.
type Among struct {
	Of      string `json:"of"`
	Studies int    `json:"studies"`
	// Repeats counts further studies of the same machine: with enough repetition, false positives
	// at 5 % appear. They are pooled, and reported.
	Repeats int `json:"repeats,omitempty"`
	stats.Effect
	// Scatter is the standard deviation of the true effects, in percent or points; Heterogeneity is
	// its share of the total variance (I²), in percent.
	Scatter       float64 `json:"scatter"`
	Heterogeneity float64 `json:"heterogeneity_percent"`
}

// level is the level of pooled intervals. The secondary metrics of a change share its error rate.
const level = 0.95

// Weigh pools the verdicts on one setting, change by change. Verdicts on the
// reverse change are inverted. Without a host all machines are alike.
func Weigh(rows []Row, h *Host) []Change {
	by := map[[2]string][]Row{}
	for _, r := range rows {
		back := [2]string{r.After, r.Before}
		if _, known := by[back]; known || r.After == "" {
			r = r.Reversed()
		}
		key := [2]string{r.Before, r.After}
		by[key] = append(by[key], r)
	}
	var out []Change
	for key, rows := range by {
		out = append(out, weigh(key[0], key[1], rows, h))
	}
	list.Sort(out, func(a, b Change) int {
		return cmp.Or(byValue(a.Before, b.Before), byValue(a.After, b.After))
	})
	return out
}

// Together pools verdicts by setting and change, for a host if one is given.
func Together(rows []Row, h *Host) (out []Change) {
	by := map[string][]Row{}
	var order []string
	for _, r := range rows {
		name := FoldName(r.Tunable)
		if by[name] == nil && name != "" {
			order = append(order, name)
		}
		by[name] = append(by[name], r)
	}
	for _, name := range order {
		out = append(out, Weigh(by[name], h)...)
	}
	return out
}

// Several reports whether a change has more than one verdict, so that pooling adds
// information.
func (c Change) Several() bool { return len(c.Verdicts)+len(c.Stopped) > 1 }

// Change describes the change: "default → 0".
func (c Change) Change() string { return Subject{Before: c.Before, After: c.After}.Change() }

// byValue orders values numerically, if they are numbers: the changes of a setting form a dose curve.
func byValue(a, b string) int {
	x, isX := tunable.ParseInteger(a)
	y, isY := tunable.ParseInteger(b)
	if isX && isY {
		return x.Cmp(y)
	}
	return strings.Compare(a, b)
}

func weigh(before, after string, rows []Row, h *Host) Change {
	c := Change{Tunable: rows[0].Tunable, Before: before, After: after, Metrics: []Pooled{}, Verdicts: []string{}}
	type key struct {
		metric, workload string
		primary, points  bool
	}
	pools := map[key][]Row{}
	var order []key
	for _, r := range rows {
		r = r.Standing()
		if why := r.unfit(); why != "" {
			c.leave(why)
			continue
		}
		if r.Verdict == stats.Stopped {
			c.Stopped = append(c.Stopped, fmt.Sprintf("%s (%s)", strings.Join(r.Flags, "; "), cmp.Or(r.Study, r.Source)))
			continue
		}
		k := key{r.Metric, r.Workload, r.Primary, r.InPoints()}
		if r.Primary {
			k.workload = ""
		}
		if pools[k] == nil {
			order = append(order, k)
		}
		pools[k] = append(pools[k], r)
		c.Verdicts = append(c.Verdicts, r.ID)
	}
	list.Sort(order, func(a, b key) int { return len(pools[b]) - len(pools[a]) })
	secondary := list.Filter(order, func(k key) bool { return !k.primary })
	for _, k := range order {
		at := level
		if !k.primary {
			at = 1 - (1-level)/float64(len(secondary))
		}
		p := pool(pools[k], h, at)
		p.Metric, p.Primary, p.Workload = k.metric, k.primary, k.workload
		c.Metrics = append(c.Metrics, p)
	}
	list.Sort(c.Metrics, func(a, b Pooled) int { return rank(a) - rank(b) })
	c.Stopped = slices.Compact(c.Stopped)
	c.conclude(h)
	return c
}

// rank puts primary metrics first, then those that speak against the change.
func rank(p Pooled) int {
	switch {
	case p.Primary:
		return 0
	case p.worse:
		return 1
	}
	return 2
}

func (c *Change) leave(why string) {
	for i := range c.LeftOut {
		if c.LeftOut[i].Why == why {
			c.LeftOut[i].N++
			return
		}
	}
	c.LeftOut = append(c.LeftOut, LeftOut{why, 1})
}

// unfit returns why a verdict is not pooled, or "".
func (r Row) unfit() string {
	e := r.estimate()
	switch {
	case r.Excluded != "":
		return "excluded from the ledger"
	case !r.Alone:
		return "with other settings changed too"
	case r.Verdict == stats.Stopped:
		return ""
	case slices.ContainsFunc(r.Flags, func(f string) bool { return strings.HasPrefix(f, distrust) }):
		return "whose control differed from itself (A/A)"
	case r.Verdict == stats.Invalid || math.IsNaN(e.Effect) || math.IsNaN(e.SE) || math.IsInf(e.SE, 0):
		return "without an interval"
	case e.SE == 0:
		return "whose values have no scatter"
	}
	return ""
}

// distrust is the beginning of the flag of a study whose control differs from itself.
const distrust = "distrust it"

// estimate returns a verdict's effect on the scale for pooling: the logarithm of a ratio, or
// points. The error is that of a normal interval, so that studies with few blocks, whose intervals
// are wider, weigh less. A difference that was found is corrected for the winner's curse; other
// effects are used as they are, which biases the mean towards zero.
func (r Row) estimate() stats.Estimate {
	effect, low, high := r.Size()
	if r.Adjusted.Known() {
		effect = r.Adjusted
	}
	scale := func(n stats.Number) float64 {
		if r.InPoints() {
			return n.Float() / 100
		}
		return math.Log1p(n.Float() / 100)
	}
	return stats.Estimate{Effect: scale(effect), SE: (scale(high) - scale(low)) / (2 * stats.NormalQuantile(0.975))}
}

// pool estimates the effect on one metric, by group and for the host.
func pool(rows []Row, h *Host, level float64) Pooled {
	p := Pooled{Counts: map[stats.Verdict]int{}, label: rows[0].MetricLabel()}
	effect := func(i stats.Interval) stats.Effect {
		if rows[0].InPoints() {
			return stats.Effect{EffectPoints: stats.Num(100 * i.Estimate), PointsLow: stats.Num(100 * i.Low), PointsHigh: stats.Num(100 * i.High)}
		}
		return stats.EffectOf(i.Map(stats.Percent))
	}
	studies, groups := map[string][]Row{}, map[string][]string{}
	var near, all []stats.Pooled
	nearly := map[stats.Verdict]int{}
	for _, r := range rows {
		p.Counts[r.Verdict]++
		if h.group(r).Near {
			nearly[r.Verdict]++
		}
		g, key := h.group(r), cmp.Or(r.StudyID, r.Study+r.Machine()+r.System())
		if studies[key] == nil {
			groups[g.Of] = append(groups[g.Of], key)
		}
		studies[key] = append(studies[key], r)
	}
	sign := 1.0
	if rows[0].lowerIsBetter() {
		sign = -1
	}
	for _, g := range likeness().Groups {
		if len(groups[g.Of]) == 0 {
			continue
		}
		repeats := repeated(groups[g.Of], studies)
		m := stats.Pool(list.Map(groups[g.Of], func(key string) stats.Estimate { return together(studies[key]) }), between(g.Of), level)
		delete(groups, g.Of)
		if h == nil {
			g.Of = "all machines"
		}
		p.Groups = append(p.Groups, Among{Of: g.Of, Studies: m.Studies, Repeats: repeats, Effect: effect(m.Mean), Scatter: 100 * m.Tau, Heterogeneity: 100 * m.I2})
		all = append(all, m)
		if g.Near {
			near = append(near, m)
		}
		if g.Near || len(near) == 0 {
			p.worse = p.worse || max(sign*m.Mean.Low, sign*m.Mean.High) < 0
		}
	}
	if p.near = len(near) > 0; !p.near {
		nearly = p.Counts
	}
	p.both = nearly[stats.Better] > 0 && nearly[stats.Worse] > 0
	p.gains = p.Counts[stats.Better] > p.Counts[stats.Worse]+p.Counts[stats.Equivalent] && sign*all[0].Mean.Estimate > 0
	expected := all[0].Prediction
	if len(near) > 1 {
		expected = stats.Weigh(level, near...)
	}
	// A gain also needs a study that showed it, whose test is corrected over its variants.
	p.Expected, p.better = effect(expected), nearly[stats.Better] > 0 && min(sign*expected.Low, sign*expected.High) > 0
	return p
}

// repeated counts the studies beyond the first of each identified machine.
func repeated(keys []string, studies map[string][]Row) (n int) {
	known := map[string]bool{}
	for _, key := range keys {
		if id := studies[key][0].MachineID; known[id] {
			n++
		} else {
			known[id] = id != ""
		}
	}
	return n
}

// together combines several verdicts of one study on one change. Its parts share a
// machine and a day, so that together they are no more precise than each alone.
func together(rows []Row) stats.Estimate {
	sum, all, se := 0.0, 0.0, 0.0
	for _, r := range rows {
		e := r.estimate()
		w := 1 / (e.SE * e.SE)
		sum, all, se = sum+w*e.Effect, all+w, se+w*e.SE
	}
	return stats.Estimate{Effect: sum / all, SE: se / all}
}

// conclude draws the conclusion from all metrics.
func (c *Change) conclude(h *Host) {
	primary := list.Filter(c.Metrics, func(p Pooled) bool { return p.Primary })
	any := slices.ContainsFunc[[]Pooled]
	switch {
	case len(c.Stopped) > 0:
		c.Says = Halted
	case len(c.Metrics) == 0:
		c.Says = Untold
	case any(primary, func(p Pooled) bool { return p.both && !p.better }):
		c.Says = Depends
	case any(c.Metrics, func(p Pooled) bool { return p.worse }):
		c.Says = Harms
	case any(primary, func(p Pooled) bool { return p.better && (p.near || h == nil) }):
		c.Says = Helps
	case h != nil && any(primary, func(p Pooled) bool { return !p.near && p.gains }):
		c.Says = Elsewhere
	default:
		c.Says = NoGain
	}
	c.Text = c.words(h)
}

// words describes the result: the conclusion, the metrics behind it, and what was left out.
func (c *Change) words(h *Host) string {
	text := inWords[c.Says]
	if len(c.Stopped) > 0 {
		text += ": " + strings.Join(c.Stopped, "; ")
	}
	text += "."
	for _, p := range c.Metrics {
		if p.Primary || p.worse || len(c.Metrics) == 1 {
			text += " " + p.words(h)
		}
	}
	left := list.Map(c.LeftOut, func(l LeftOut) string { return fmt.Sprintf("%d %s", l.N, l.Why) })
	if len(left) > 0 {
		text += " Left out: " + strings.Join(left, ", ") + "."
	}
	return text
}

func (p *Pooled) words(h *Host) string {
	var counts, groups []string
	for _, v := range stats.Verdicts() {
		if n := p.Counts[v]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, v))
		}
	}
	for _, g := range p.Groups {
		studies := "1 study"
		if g.Studies > 1 {
			studies = show.Count(g.Studies) + " studies"
		}
		if g.Repeats > 0 {
			studies += fmt.Sprintf(", %d repeated", g.Repeats)
		}
		groups = append(groups, fmt.Sprintf("%s %s (%s)", g.Of, g.TextWithBounds(), studies))
	}
	of, where := "", "this host"
	if !p.Primary {
		of = ", exploratory"
		if p.Workload != "" {
			of += ", " + p.Workload
		}
	}
	if h == nil {
		where = "another machine"
	}
	return fmt.Sprintf("The %s%s: %s; %s; expected on %s %s.", p.label, of, strings.Join(counts, ", "), strings.Join(groups, "; "), where, p.Expected.Bounds())
}

// Told returns the changes that a page shows, one line each: all if there are few, else
// the informative ones and a dose curve.
func Told(cs []Change) (lines []string) {
	cs = list.Filter(cs, func(c Change) bool { return c.Says != Untold })
	few := len(cs) <= mostTold
	for _, c := range cs {
		if few || c.Says == Helps || c.Says == Elsewhere || c.Says == Halted {
			lines = append(lines, c.Change()+": "+c.Text)
		}
	}
	if few {
		return lines
	}
	of, dose := "", []string{}
	for i, c := range cs {
		if of == "" && len(c.Metrics) > 0 {
			of = c.Metrics[0].label
		}
		at := i * (mostDoses - 1) / (len(cs) - 1)
		if thin := len(cs) > mostDoses && i > 0 && (i-1)*(mostDoses-1)/(len(cs)-1) == at; !thin && len(c.Metrics) > 0 {
			dose = append(dose, cmp.Or(c.After, "default")+" "+c.Metrics[0].Expected.Text())
		}
	}
	rest := "None is shown to help"
	if len(lines) > 0 {
		rest = "In order"
	}
	return append(lines, fmt.Sprintf("%d values were tried. %s: %s (%s).", len(cs), rest, strings.Join(dose, ", "), of))
}

// Up to mostTold changes are all shown; a dose curve has at most mostDoses values.
const (
	mostTold  = 2
	mostDoses = 9
)

// Near reports whether the change was studied on the host, or on machines similar to it.
func (c Change) Near() bool {
	return len(c.Stopped) > 0 || slices.ContainsFunc(c.Metrics, func(p Pooled) bool { return p.near })
}

// Best returns the change with the largest guaranteed gain; nil if none helps.
func Best(cs []Change) (best *Change) {
	most := 0.0
	for i := range cs {
		if least := cs[i].least(); cs[i].Says == Helps && (best == nil || least > most) {
			best, most = &cs[i], least
		}
	}
	return best
}

// least returns the smallest gain that the prediction for a primary metric allows.
func (c *Change) least() (gain float64) {
	for _, p := range c.Metrics {
		if _, low, high := p.Expected.Size(); p.Primary && p.better {
			gain = max(gain, min(math.Abs(low.Float()), math.Abs(high.Float())))
		}
	}
	return gain
}

// Merge adds the evidence shipped with the program to the user's own, without
// duplicates.
func Merge(own, shipped []Row) []Row {
	type key struct{ tunable, id string }
	seen := map[key]bool{}
	for _, r := range own {
		seen[key{r.Tunable, r.ID}] = true
	}
	return append(own, list.Filter(shipped, func(r Row) bool { return !seen[key{r.Tunable, r.ID}] })...)
}

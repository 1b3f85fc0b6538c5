// Package trend reads a study that is run again and again, every night say, as
// series over time: the value of one metric of one variant on one machine. It finds
// where a series changes, says in what the runs on both sides differ, and makes the
// study that lets both states take turns. A change that is found is a suspicion;
// only that study's verdict is a claim.
//
// Everything is pure: the ledger hands in the runs.
package trend

import (
	"cmp"
	"math"
	"slices"
	"time"

	"linerate/internal/stats"
	"linerate/internal/study"
)

// Of is what a series is of, within a study.
type Of struct {
	Part    string `json:"part"`
	Variant string `json:"variant"`
	Metric  string `json:"metric"`
}

// Run is one run of a study.
type Run struct {
	ID       string    `json:"id"`
	Started  time.Time `json:"started"`
	Release  string    `json:"release"`  // of the system that was measured
	Linerate string    `json:"linerate"` // the version that measured

	Study    string `json:"-"`
	Question string `json:"-"`
	Subject  string `json:"-"` // what was measured: the machine
	Metric   string `json:"-"` // the primary one
	Control  string `json:"-"`
	// Values are the valid trials' values, by block.
	Values map[Of]map[int]float64 `json:"-"`
}

// Point is one run's value in a series.
type Point struct {
	Run
	Value float64 `json:"value"`
}

// Series are the values of one thing over time.
type Series struct {
	Study   string `json:"study"`
	Subject string `json:"subject"`
	Of
	Unit string `json:"unit"`
	// Against is the control that values are relative to; "": they are the variant's own.
	Against string          `json:"against,omitempty"`
	Better  stats.Direction `json:"better"`
	Points  []Point         `json:"points"`
	Changes []Change        `json:"changes"` // in order
	// Follows is set where neighbouring runs resemble each other more than distant ones:
	// the level of the test is then not kept.
	Follows bool `json:"autocorrelated"`
	// Unreached is set where no step, however large, could reach the level.
	Unreached bool `json:"-"`

	question string
}

// Options say how changes are looked for.
type Options struct {
	Metric  string // "": each study's primary one
	Variant string // "": all
	// Effects looks at variants' distance from the control, in which what slows all of
	// a machine cancels out, instead of at their values.
	Effects bool
	Minimum int     // runs on each side of a change, at least
	Alpha   float64 // of all series together
	Seed    uint64
}

// mostRuns bounds a series: the last so many runs.
const mostRuns = 1000

// Find sorts runs into series and looks for changes in those that are long enough;
// short is how many are not. The level is shared by all of them (Bonferroni): where nothing
// ever changed, alpha bounds how often anything is found in one look.
func Find(runs []Run, o Options) (found []Series, short int) {
	slices.SortStableFunc(runs, func(a, b Run) int { return a.Started.Compare(b.Started) })
	all := seriesOf(runs, o)
	for _, s := range all {
		if len(s.Points) < 2*o.Minimum {
			short++
			continue
		}
		found = append(found, s)
	}
	for i := range found {
		found[i].look(o, o.Alpha/float64(len(found)))
	}
	return found, short
}

// seriesOf are all series there are, in the order of their names.
func seriesOf(runs []Run, o Options) (all []Series) {
	type key struct {
		study, question, subject string
		of                       Of
	}
	at := map[key]int{}
	for _, r := range runs {
		for of := range r.Values {
			value := r.value(of, o.Effects)
			if of.Variant == study.AA || o.Variant != "" && of.Variant != o.Variant || of.Metric != cmp.Or(o.Metric, r.Metric) || math.IsNaN(value) {
				continue
			}
			k := key{r.Study, r.Question, r.Subject, of}
			i, known := at[k]
			if !known {
				i, at[k] = len(all), len(all)
				all = append(all, newSeries(r, of, o.Effects))
			}
			all[i].Points = append(all[i].Points, Point{r, value})
		}
	}
	slices.SortFunc(all, func(a, b Series) int {
		return cmp.Or(cmp.Compare(a.Study, b.Study), cmp.Compare(a.question, b.question), cmp.Compare(a.Subject, b.Subject),
			cmp.Compare(a.Part, b.Part), cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.Variant, b.Variant))
	})
	for i := range all {
		all[i].Points = all[i].Points[max(0, len(all[i].Points)-mostRuns):]
	}
	return all
}

func newSeries(r Run, of Of, effects bool) Series {
	m, _ := study.MetricNamed(of.Metric)
	s := Series{Study: r.Study, Subject: r.Subject, Of: of, Unit: m.Unit, Better: stats.HigherIsBetter, Changes: []Change{}, question: r.Question}
	if m.LowerIsBetter {
		s.Better = stats.LowerIsBetter
	}
	if effects {
		s.Unit, s.Against = "of the control's", r.Control
	}
	return s
}

// value is a run's: the median over blocks, or NaN where it has none. Of effects it is
// what of the control's, and the control has none.
func (r Run) value(of Of, effects bool) float64 {
	var x []float64
	control := r.Values[Of{of.Part, r.Control, of.Metric}]
	for block, v := range r.Values[of] {
		if effects {
			c, ok := control[block]
			if !ok || c == 0 {
				continue
			}
			v /= c
		}
		x = append(x, v)
	}
	if len(x) == 0 || effects && of.Variant == r.Control {
		return math.NaN()
	}
	return stats.Median(x)
}

// permutations of a series of n values resolve a level with some precision, and are bounded
// for the time they take; a level shared by very many series is at least reached, as long as
// that takes seconds.
func permutations(alpha float64, n int) int {
	precise := min(20_000, max(999, math.Ceil(20/alpha)-1))
	reached := min(math.Ceil(1/alpha), 2e9/float64(n*n))
	return int(max(precise, reached))
}

// look finds the changes of a series at a level.
func (s *Series) look(o Options, alpha float64) {
	x := make([]float64, len(s.Points))
	for i, p := range s.Points {
		x[i] = p.Value
	}
	tries := permutations(alpha, len(x))
	s.Unreached = stats.LeastChangeP(len(x), tries) > alpha
	found := stats.ChangePoints(x, o.Minimum, alpha, tries, o.Seed)
	s.Changes = append(s.Changes, s.changes(x, found)...)
	s.Follows = follows(x, found)
}

// follows reports whether values resemble the one before them within segments: lag-1
// autocorrelation beyond what independent values show by chance (at 1 %).
func follows(x []float64, found []stats.ChangePoint) bool {
	var num, den float64
	n, from := 0, 0
	for i := 0; i <= len(found); i++ {
		to := len(x)
		if i < len(found) {
			to = found[i].Index
		}
		segment := x[from:to]
		from = to
		mean := stats.Mean(segment)
		for j, v := range segment {
			den += (v - mean) * (v - mean)
			if j > 0 {
				num += (v - mean) * (segment[j-1] - mean)
			}
		}
		n += len(segment)
	}
	return n > 0 && den > 0 && num/den > 2.33/math.Sqrt(float64(n))
}

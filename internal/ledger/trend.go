package ledger

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// Trend is a value that a machine's runs of one study give again and again, every night say.
type Trend struct {
	Machine  string `json:"machine"`
	Study    string `json:"study"`
	Workload string `json:"workload"`
	Metric   string `json:"metric"`
	Unit     string `json:"unit"`
	Arm      string `json:"arm"`
	// Against is the arm that the value is an effect against, which what changes the whole machine
	// does not move; "" if the value is the arm's mean.
	Against string       `json:"against"`
	Runs    int          `json:"runs"`
	Last    stats.Number `json:"last"` // a mean, or an effect in percent
	Steps   []Step       `json:"steps"`
	// Shows is the number of runs that show a step of 2 %; 0 if none does.
	Shows int `json:"runs_to_show_2_percent"`

	values  []float64 // logarithms
	started []time.Time
	last    string // study ID of the last run, whose variants give its control's mean again
}

// Step is a lasting change between two runs.
type Step struct {
	First time.Time    `json:"first"` // start of the first run after it
	Seen  time.Time    `json:"seen"`  // start of the run that showed it
	Size  stats.Effect `json:"size"`  // in percent
}

// shownStep is the step that trends are asked to show, as a logarithm.
var shownStep = math.Log(1.02)

// Trends returns the series of at least two runs in lines: each control's means, and each variant's effects.
func Trends(lines []Line) (out []Trend) {
	lines = slices.Clone(lines)
	list.Sort(lines, func(a, b Line) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.StudyID, b.StudyID))
	})
	type key [6]string
	at := map[key]int{}
	add := func(l *Line, arm, against string, value float64) {
		k := key{l.MachineID, l.Study, l.Workload, l.Metric, arm, against}
		i, known := at[k]
		if !known {
			i, at[k] = len(out), len(out)
			out = append(out, Trend{Machine: l.MachineID, Study: l.Study, Workload: l.Workload, Metric: l.Metric, Unit: l.Unit, Arm: arm, Against: against, Steps: []Step{}})
		}
		t := &out[i]
		if t.last != l.StudyID && !math.IsNaN(value) && !math.IsInf(value, 0) {
			t.values, t.started, t.last = append(t.values, value), append(t.started, l.Started), l.StudyID
		}
	}
	for i := range lines {
		l := &lines[i]
		if l.Excluded != "" || l.Started.IsZero() {
			continue
		}
		add(l, l.Control, "", math.Log(l.ControlMean.Float()))
		add(l, l.Variant, l.Control, math.Log1p(l.EffectPercent.Float()/100))
	}
	out = slices.DeleteFunc(out, func(t Trend) bool { return len(t.values) < 2 })
	for i := range out {
		out[i].watch()
	}
	list.Sort(out, func(a, b Trend) int { return cmp.Or(cmp.Compare(a.Machine, b.Machine), cmp.Compare(a.Study, b.Study)) })
	return out
}

func (t *Trend) watch() {
	t.Runs = len(t.values)
	last := t.values[t.Runs-1]
	if t.Last = stats.Num(math.Exp(last)); t.Against != "" {
		t.Last = stats.Num(stats.Percent(last))
	}
	w := stats.Watch(t.values)
	for _, s := range w.Steps {
		t.Steps = append(t.Steps, Step{t.started[s.At], t.started[s.Seen], stats.EffectOf(s.Size.Map(stats.Percent))})
	}
	if t.Runs-w.Since >= stats.LeastNights {
		t.Shows = w.Nights(shownStep)
	}
}

// PrintTrends prints trends as a table.
func PrintTrends(page *show.Page, all []Trend) {
	t := show.Table{Header: []string{"study", "metric", "arm", "runs", "last", ""}}
	stepped := false
	for i := range all {
		r := &all[i]
		arm, last := r.Arm, show.Value(r.Last.Float())+" "+r.Unit
		m, known := study.MetricNamed(r.Metric)
		if known {
			last = m.Text(r.Last.Float())
		}
		if r.Against != "" {
			arm, last = arm+" against "+r.Against, show.SignedPercent(r.Last.Float())
		}
		t.Add(r.Study, cmp.Or(m.Label, r.Metric), arm, strconv.Itoa(r.Runs), last, r.says())
		stepped = stepped || len(r.Steps) > 0
	}
	page.Table(t)
	if stepped {
		page.Line("A step between runs is a suspicion: to prove it, make both states variants of one study, in which they take turns.")
	}
}

// says describes the last step, or what would show.
func (t *Trend) says() string {
	if n := len(t.Steps); n > 0 {
		s := t.Steps[n-1]
		return fmt.Sprintf("%s %s since %s", show.SignedPercent(s.Size.EffectPercent.Float()), show.Interval(s.Size.CILow.Float(), s.Size.CIHigh.Float()), s.First.UTC().Format(time.DateOnly))
	}
	switch least := stats.LeastNights + 1; {
	case t.Runs < least:
		return fmt.Sprintf("too few runs: %d at least", least)
	case t.Shows == 0:
		return "no step; one of 2 % would not be seen"
	}
	return fmt.Sprintf("no step; one of 2 %% would be seen in %d runs", t.Shows)
}

package web

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	"linerate/internal/chart"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
	"linerate/internal/study/record"
)

// Running is the JSON document of the studies on disk.
type Running struct {
	Document
	Studies []Progress `json:"studies"`
}

// State is how a study on disk stands.
type State string

// The states of a study on disk.
const (
	StateRunning  State = "running"  // a trial ended not long ago
	StateStopped  State = "stopped"  // none has for long, and some are left
	StateComplete State = "complete" // no trial is left to run
	StateWaiting  State = "waiting"  // in the queue, and no testbed has a block of it
	StateUnread   State = "unread"   // its record cannot be read
)

// Progress is the JSON document of a study on disk: how far it is, and how wide the
// intervals of its primary metric are by now.
type Progress struct {
	Document
	Run
	State    State  `json:"state"`
	Problem  string `json:"problem,omitempty"` // why it cannot be read
	Study    string `json:"study"`
	Question string `json:"question"`
	// Done and Total are trials, those done again left out; a study whose looks are planned
	// may end sooner. Invalid ones are counted apart.
	Done    int `json:"done"`
	Total   int `json:"total"`
	Invalid int `json:"invalid"`
	// Started is when the first trial began.
	Started *time.Time `json:"started"`
	// LeftSeconds are about what the rest takes at the pace so far; null where nothing
	// is known of it.
	LeftSeconds stats.Number `json:"left_seconds"`
	Metric      string       `json:"metric"`
	Points      bool         `json:"points"` // widths are percentage points, not percent
	// AA and Widest are half the A/A arm's interval and half the widest of the variants'.
	AA     stats.Number `json:"aa_half_width"`
	Widest stats.Number `json:"widest_half_width"`
	// Effects are the variants' so far.
	Effects []Effect `json:"effects"`
	// Last is the trial that ended last.
	Last *Last `json:"last"`
}

// Effect is how a variant stands against the control; Verdict is "" before the study is
// complete.
type Effect struct {
	Variant string `json:"variant"`
	N       int    `json:"n"` // blocks
	stats.Effect
	Verdict stats.Verdict `json:"verdict,omitempty"`
}

// Last is a trial in a few words.
type Last struct {
	Part    string    `json:"part"`
	Variant string    `json:"variant"`
	Block   int       `json:"block"`
	Start   time.Time `json:"start"`
	Valid   bool      `json:"valid"`
	Why     []string  `json:"why,omitempty"`
}

// running lists the studies on disk.
func (s *Server) running(*http.Request) (*answer, error) {
	doc := Running{Document: version1, Studies: []Progress{}}
	if s.Runs != nil {
		all, err := s.Runs.List()
		if err != nil {
			return nil, err
		}
		for _, r := range all[:min(len(all), perPage)] {
			doc.Studies = append(doc.Studies, s.runs.of(s, s.onDisk(r)))
		}
	}
	return &answer{title: "Studies on this machine", doc: doc, refresh: 30}, nil
}

// run shows how a study on disk gets on.
func (s *Server) run(r *http.Request) (*answer, error) {
	p, err := s.progress(r)
	if err != nil {
		return nil, err
	}
	a := &answer{title: p.Name, doc: p}
	if p.State == StateRunning {
		a.refresh = 10
	}
	return a, nil
}

// source is a record to be watched: where its progress is kept, how it lies there now, and
// how it is read.
type source struct {
	key  string
	run  Run
	read func() (*record.Record, error)
}

// progress is how the study that a request names gets on.
func (s *Server) progress(r *http.Request) (Progress, error) {
	src, err := s.ofDisk(r.PathValue("name"))
	if r.PathValue("id") != "" {
		src, err = s.ofQueue(r)
	}
	if err != nil {
		return Progress{}, err
	}
	return s.runs.of(s, src), nil
}

// runs keeps what was worked out of records, until they change.
type runs struct {
	mu    sync.Mutex
	known map[string]*watched
}

// watched is one record, and what was made of it when it had so many bytes.
type watched struct {
	mu   sync.Mutex
	at   Run
	made bool
	p    Progress
}

// maxWatched bounds the records that are kept in mind.
const maxWatched = 200

// of is the progress of a record as it lies there now.
func (c *runs) of(s *Server, src source) Progress {
	c.mu.Lock()
	if c.known == nil || len(c.known) > maxWatched {
		c.known = map[string]*watched{}
	}
	w := c.known[src.key]
	if w == nil {
		w = &watched{}
		c.known[src.key] = w
	}
	c.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	r := src.run
	if !w.made || w.at.Bytes != r.Bytes || !w.at.Changed.Equal(r.Changed) {
		w.p, w.at, w.made = s.look(src), r, true
	}
	p := w.p
	p.Run = r
	p.State = p.stateAt(s.Now())
	return p
}

// look works out how a study gets on.
func (s *Server) look(src source) Progress {
	r := src.run
	p := Progress{Document: version1, Run: r, State: StateUnread, Effects: []Effect{}}
	rec, err := src.read()
	if err != nil {
		p.Problem = "its record cannot be read"
		s.Log(fmt.Errorf("study %s: %w", r.Name, err))
		return p
	}
	p.State, p.Study, p.Question = "", rec.Spec.Name, rec.Spec.Question
	res := rec.Results()
	g := rec.Spec.Primary()
	m, _ := res.Metric(g.Metric)
	p.Metric, p.Points, p.Started = m.Label, m.Share, res.Started
	soFar := map[string]stats.Effect{}
	if !res.Complete {
		soFar = rec.Spec.SoFar(rec.Seed, rec.Trials)
	}
	for _, v := range res.Verdicts {
		if v.Primary {
			if e, goesOn := soFar[v.Variant]; goesOn {
				v.Effect = e
			}
			p.Effects = append(p.Effects, Effect{v.Variant, v.N, v.Effect, ""})
			if res.Complete {
				p.Effects[len(p.Effects)-1].Verdict = v.Verdict
			}
		}
	}
	p.count(rec.Spec, rec.Seed, rec.Trials)
	if res.Complete {
		p.State = StateComplete
	}
	p.AA, p.Widest = rec.Spec.Interim(rec.Seed, rec.Trials)
	return p
}

// count counts trials, and foresees the rest at the pace so far.
func (p *Progress) count(spec study.Spec, seed uint64, trials []study.Trial) {
	seconds := 0.0
	for i := range trials {
		t := &trials[i]
		seconds += t.Seconds
		if !t.Valid {
			p.Invalid++
		}
		if !t.Retry {
			p.Done++
		}
	}
	p.Total = max(p.Done, len(study.Schedule(spec, seed)))
	if n := len(trials); n > 0 {
		t := &trials[n-1]
		p.Last = &Last{t.Part, t.Variant, t.Block, t.Start, t.Valid, t.Why()}
		p.LeftSeconds = stats.Num(seconds / float64(n) * float64(p.Total-p.Done))
	}
}

// patience is how long a study may be without a trial's end before it counts as stopped:
// at least a minute, and ten times what a trial took so far.
const patience = time.Minute

// stateAt is how the study stands at a time.
func (p *Progress) stateAt(now time.Time) State {
	switch {
	case p.State == StateUnread:
		return p.State
	case p.Queued != nil:
		return stateQueued(p.Queued)
	case p.State != "":
		return p.State
	}
	each := 0.0
	if left, ok := p.LeftSeconds.Get(); ok && p.Total > p.Done {
		each = left / float64(p.Total-p.Done)
	}
	if now.Sub(p.Changed) > max(patience, time.Duration(10*each*float64(time.Second))) {
		return StateStopped
	}
	return StateRunning
}

// Width prints half an interval.
func (p Progress) Width(n stats.Number) string {
	w, ok := n.Get()
	switch {
	case !ok || math.IsNaN(w) || w >= 100:
		return "unknown"
	case p.Points:
		return "±" + show.Points(w)
	}
	return "±" + show.Percent(w)
}

// Left prints what the rest takes.
func (p Progress) Left() string {
	s, ok := p.LeftSeconds.Get()
	if !ok || p.State != StateRunning {
		return ""
	}
	return show.Clock(time.Duration(s * float64(time.Second)))
}

// Share is how much of it is done, from 0 to 100.
func (p Progress) Share() int {
	if p.Total == 0 {
		return 0
	}
	return 100 * p.Done / p.Total
}

// Forest draws the effects so far; before the study is complete none has a verdict's
// colour.
func (p Progress) Forest() []chart.Figure {
	var rows []chart.Effect
	for _, e := range p.Effects {
		row := chart.Effect{Name: e.Variant, Class: "aa", Main: "–"}
		size, low, high := e.Size()
		row.Value, row.Known = size.Get()
		row.Low, row.High = row.Value, row.Value
		if row.Known {
			row.Main = e.Effect.Text()
		}
		if low.Known() && high.Known() {
			row.Low, row.High, row.Aside = low.Float(), high.Float(), e.Bounds()
		}
		if p.State == StateComplete {
			row.Class, row.Main = string(e.Verdict), row.Main+"  "+string(e.Verdict)
		}
		rows = append(rows, row)
	}
	if !slices.ContainsFunc(rows, func(e chart.Effect) bool { return e.Known }) {
		return nil
	}
	title := "Effects so far"
	if p.State == StateComplete {
		title = "Effects"
	}
	return chart.Draw(title+": "+p.Metric, "", func(w float64) string {
		return chart.Forest(rows, 0, chart.LinearPart(rows), chart.SignedTick(p.Points), w, "effects of the variants with their 95 % intervals")
	})
}

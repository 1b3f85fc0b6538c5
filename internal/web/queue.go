package web

import (
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"

	"linerate/internal/hint"
	"linerate/internal/queue"
	"linerate/internal/report"
	"linerate/internal/study"
	"linerate/internal/study/record"
)

// State is the state of a study in the queue.
type State string

// The states of a study in the queue.
const (
	StateRunning  State = "running"
	StateStopped  State = "stopped" // cancelled, or it failed
	StateComplete State = "complete"
	StateWaiting  State = "waiting" // no testbed has a block of it
	StateUnread   State = "unread"  // its record cannot be read
)

// Progress is the JSON document of a study in the queue: its progress, and the results so far.
type Progress struct {
	Document
	Queued   queue.Study `json:"queued"`
	State    State       `json:"state"`
	Problem  string      `json:"problem,omitempty"` // why it cannot be read
	Study    string      `json:"study"`
	Question string      `json:"question"`
	// Done and Total count trials, without repeated ones; a study with planned looks may end
	// sooner. Invalid ones are counted separately.
	Done    int            `json:"done"`
	Total   int            `json:"total"`
	Invalid int            `json:"invalid"`
	Results *study.Results `json:"results,omitempty"`
	Body    template.HTML  `json:"-"`
}

// Share returns the completed percentage.
func (p Progress) Share() int { return 100 * p.Done / max(1, p.Total) }

// queued serves the progress of a study in the queue.
func (s *Server) queued(r *http.Request) (*answer, error) {
	id := r.PathValue("id")
	none := missing("the queue has no study %s", id)
	q, err := s.line(r)
	if err != nil || q == nil {
		return nil, errors.Join(err, none)
	}
	st, err := q.Study(r.Context(), id)
	if hint.IsUsage(err) { // none, or several
		return nil, none
	}
	if err != nil {
		return nil, err
	}
	rep := s.reports.of("queue/"+st.ID, fmt.Sprint(st.Trials, st.Done), func() (*record.Record, error) {
		files, err := q.Record(r.Context(), st.ID)
		if err != nil {
			return nil, err
		}
		return queue.ReadRecord(files, st.ID)
	})
	p := Progress{Document: version1, Queued: st, State: StateUnread}
	if p.take(rep); rep.err != nil {
		s.Log(fmt.Errorf("study %s: %w", st.ID, rep.err))
	}
	a := &answer{title: st.ID, doc: p, inline: strings.Contains(string(p.Body), ` style="`)}
	if p.State == StateRunning {
		a.refresh = 10
	}
	return a, nil
}

// take adds the study's report.
func (p *Progress) take(rep *rendered) {
	if rep.err != nil {
		p.Problem = "its record cannot be read"
		return
	}
	p.Study, p.Question = rep.spec.Name, rep.spec.Question
	for i := range rep.results.Trials {
		t := &rep.results.Trials[i]
		if !t.Valid {
			p.Invalid++
		}
		if !t.Retry {
			p.Done++
		}
	}
	p.Total = max(p.Done, len(study.Schedule(rep.spec, rep.results.Seed)))
	p.State, p.Results, p.Body = stateQueued(p.Queued), &rep.results, rep.body()
}

func stateQueued(st queue.Study) State {
	switch {
	case st.State == queue.Cancelled || st.State == queue.Failed:
		return StateStopped
	case st.State == queue.Done:
		return StateComplete
	case st.Running > 0 || st.State == queue.Finishing:
		return StateRunning
	}
	return StateWaiting
}

// reports caches the reports used last until their records change, because an analysis takes a
// while.
type reports struct {
	mu   sync.Mutex
	made map[string]*rendered
	used []string // most recent last
}

// rendered is a study's report.
type rendered struct {
	once    sync.Once
	stamp   string // of the record when it was read
	spec    study.Spec
	results study.Results
	body    func() template.HTML
	err     error
}

// maxReports is the maximum number of cached reports.
const maxReports = 32

// of returns the report of a record; it calls read if the stamp has changed.
func (c *reports) of(key, stamp string, read func() (*record.Record, error)) *rendered {
	c.mu.Lock()
	if c.made == nil {
		c.made = map[string]*rendered{}
	}
	rep := c.made[key]
	if rep == nil || rep.stamp != stamp {
		rep = &rendered{stamp: stamp}
		c.made[key] = rep
	}
	c.used = append(slices.DeleteFunc(c.used, func(k string) bool { return k == key }), key)
	if len(c.used) > maxReports {
		delete(c.made, c.used[0])
		c.used = c.used[1:]
	}
	c.mu.Unlock()
	rep.once.Do(func() { rep.make(read) })
	if rep.err != nil { // the next request retries
		c.mu.Lock()
		if c.made[key] == rep {
			delete(c.made, key)
		}
		c.mu.Unlock()
	}
	return rep
}

func (rep *rendered) make(read func() (*record.Record, error)) {
	rec, err := read()
	if err != nil {
		rep.err = err
		return
	}
	rep.spec, rep.results = rec.Spec, rec.Results()
	rep.results.Warnings = append(rec.Warnings(rep.results), rep.results.Warnings...)
	if !rep.results.Complete {
		rep.results.NoVerdicts(rec.Spec)
	}
	rep.body = sync.OnceValue(func() template.HTML { return report.Of(rep.spec, rep.results).Body() })
}

// Queue is the JSON document of the queue, as in `linerate study queue --all --json`.
type Queue struct {
	queue.Document
	// Exists is false if there is no queue yet.
	Exists bool `json:"exists"`
}

// line returns the queue, nil if there is none yet.
func (s *Server) line(r *http.Request) (queue.Reader, error) {
	return s.waiting.get(r.Context(), s.OpenQueue)
}

// queue serves the testbeds, and the studies waiting for them and running on them.
func (s *Server) queue(r *http.Request) (*answer, error) {
	doc := Queue{Document: queue.Document{Version: 1, Studies: []queue.Study{}, Testbeds: []queue.Testbed{}}}
	q, err := s.line(r)
	if err != nil {
		return nil, err
	}
	if q != nil {
		doc.Exists = true
		if doc.Document, err = queue.Look(r.Context(), q, true); err != nil {
			return nil, err
		}
	}
	return &answer{title: "Queue and testbeds", doc: doc, refresh: 15}, nil
}

package web

import (
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"linerate/internal/hint"
	"linerate/internal/queue"
	"linerate/internal/report"
	"linerate/internal/study"
	"linerate/internal/study/record"
)

// Running is the JSON document of the studies on disk.
type Running struct {
	Document
	Studies []Progress `json:"studies"`
}

// State is the state of a study on disk.
type State string

// The states of a study on disk.
const (
	StateRunning  State = "running"  // a trial ended recently
	StateStopped  State = "stopped"  // no recent trial, and some remain
	StateComplete State = "complete" // no trials remain
	StateWaiting  State = "waiting"  // queued, and no testbed has a block of it
	StateUnread   State = "unread"   // its record cannot be read
)

// Progress is the JSON document of a study on disk: its progress, and the results so far.
type Progress struct {
	Document
	Run
	State    State  `json:"state"`
	Problem  string `json:"problem,omitempty"` // why it cannot be read
	Study    string `json:"study"`
	Question string `json:"question"`
	// Done and Total count trials, without repeated ones; a study with planned looks may end
	// sooner. Invalid ones are counted separately.
	Done    int `json:"done"`
	Total   int `json:"total"`
	Invalid int `json:"invalid"`
	// Results are set on the page of one study.
	Results *study.Results `json:"results,omitempty"`
	Body    template.HTML  `json:"-"`
}

// Share returns the completed percentage.
func (p Progress) Share() int { return 100 * p.Done / max(1, p.Total) }

// running lists the studies on disk.
func (s *Server) running(*http.Request) (*answer, error) {
	doc := Running{Document: version1, Studies: []Progress{}}
	all, err := s.onDiskAll()
	for _, r := range all[:min(len(all), maxReports)] { // those that changed last
		doc.Studies = append(doc.Studies, s.progress(s.onDisk(r), false))
	}
	return &answer{title: "Studies on this machine", doc: doc, refresh: 30}, err
}

// run serves the progress of a study on disk or in the queue.
func (s *Server) run(r *http.Request) (*answer, error) {
	src, err := s.ofDisk(r.PathValue("name"))
	if r.PathValue("id") != "" {
		src, err = s.ofQueue(r)
	}
	if err != nil {
		return nil, err
	}
	p := s.progress(src, true)
	a := &answer{title: p.Name, doc: p, inline: strings.Contains(string(p.Body), ` style="`)}
	if p.State == StateRunning {
		a.refresh = 10
	}
	return a, nil
}

// source is a record to watch: the key of its report, its current state, and how to read it.
type source struct {
	key  string
	run  Run
	read func() (*record.Record, error)
}

// progress returns the progress of a study, with its report if whole.
func (s *Server) progress(src source, whole bool) Progress {
	p := Progress{Document: version1, Run: src.run, State: StateUnread}
	rep := s.reports.of(src.key, fmt.Sprint(src.run.Bytes, src.run.Changed.UnixNano()), src.read)
	if rep.err != nil {
		p.Problem = "its record cannot be read"
		s.Log(fmt.Errorf("study %s: %w", p.Name, rep.err))
		return p
	}
	p.Study, p.Question, p.Total = rep.spec.Name, rep.spec.Question, len(study.Schedule(rep.spec, rep.results.Seed))
	seconds := 0.0
	for i := range rep.results.Trials {
		t := &rep.results.Trials[i]
		seconds += t.Seconds
		if !t.Valid {
			p.Invalid++
		}
		if !t.Retry {
			p.Done++
		}
	}
	p.Total = max(p.Total, p.Done)
	p.State = p.stateAt(s.Now(), rep.results.Complete, study.Seconds(seconds/float64(max(1, len(rep.results.Trials)))))
	if whole {
		p.Results, p.Body = &rep.results, rep.body()
	}
	return p
}

// patience is the minimum time without a completed trial after which a study counts as stopped; it
// is at least ten times the duration of a trial so far.
const patience = time.Minute

// stateAt returns the state of the study at a time, given the duration of a trial.
func (p *Progress) stateAt(now time.Time, complete bool, trial time.Duration) State {
	switch {
	case p.Queued != nil:
		return stateQueued(p.Queued)
	case complete:
		return StateComplete
	case now.Sub(p.Changed) > max(patience, 10*trial):
		return StateStopped
	}
	return StateRunning
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

// ofQueue returns a study in the queue, by ID prefix, as a source.
func (s *Server) ofQueue(r *http.Request) (source, error) {
	id := r.PathValue("id")
	none := missing("the queue has no study %s", id)
	q, err := s.line(r)
	if err != nil || q == nil {
		return source{}, errors.Join(err, none)
	}
	st, err := q.Study(r.Context(), id)
	if hint.IsUsage(err) { // none, or several
		return source{}, none
	}
	if err != nil {
		return source{}, err
	}
	// A queue has no record size and time; use what changes with each trial and each step of the
	// study.
	run := Run{Name: st.ID, Changed: st.Submitted.Add(time.Duration(st.Done)), Bytes: int64(st.Trials), Queued: &st}
	return source{key: "queue/" + st.ID, run: run, read: func() (*record.Record, error) {
		files, err := q.Record(r.Context(), st.ID)
		if err != nil {
			return nil, err
		}
		return queue.ReadRecord(files, st.ID)
	}}, nil
}

func stateQueued(st *queue.Study) State {
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

// onDiskAll returns the studies on disk, the last changed first.
func (s *Server) onDiskAll() ([]Run, error) {
	if s.Runs == nil {
		return nil, nil
	}
	return s.Runs.List()
}

// ofDisk returns a study on disk as a source.
func (s *Server) ofDisk(name string) (source, error) {
	all, err := s.onDiskAll()
	if err != nil {
		return source{}, err
	}
	if i := slices.IndexFunc(all, func(r Run) bool { return r.Name == name }); i >= 0 {
		return s.onDisk(all[i]), nil
	}
	return source{}, missing("no study %s lies where this page looks", name)
}

// onDisk returns a source for a study on disk.
func (s *Server) onDisk(r Run) source {
	return source{key: "disk/" + r.Name, run: r, read: func() (*record.Record, error) { return s.Runs.Read(r.Name) }}
}

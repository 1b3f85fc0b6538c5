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

	"linerate/internal/list"
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

// Progress is the JSON document of a study on disk: how far it is, and what its trials
// came to so far.
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
	// Results are those of the page of one study.
	Results *study.Results `json:"results,omitempty"`
	Body    template.HTML  `json:"-"`
}

// Share is how much of it is done, from 0 to 100.
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

// run shows how a study on disk, or of the queue, gets on.
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

// source is a record to be watched: where its report is kept, how it lies there now, and
// how it is read.
type source struct {
	key  string
	run  Run
	read func() (*record.Record, error)
}

// progress is how a study gets on; whole has its report.
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

// patience is how long a study may be without a trial's end before it counts as stopped:
// at least a minute, and ten times what a trial took so far.
const patience = time.Minute

// stateAt is how the study stands at a time; a trial takes so long.
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

// reports keeps the reports that were asked for last, until their records change: an
// analysis takes a while.
type reports struct {
	mu   sync.Mutex
	made map[string]*rendered
	used []string // the last one last
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

// maxReports bounds the reports that are kept.
const maxReports = 32

// of is the report of a record, which read reads when its stamp is another than before.
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
	if rep.err != nil { // the next one asks again
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

// Queue is the JSON document of the queue: that of `linerate study queue --all --json`.
type Queue struct {
	queue.Document
	// Exists is false where there is no queue yet.
	Exists bool `json:"exists"`
}

// line is the queue, nil where there is none yet.
func (s *Server) line(r *http.Request) (queue.Reader, error) {
	return s.waiting.get(r.Context(), s.OpenQueue)
}

// queue shows studies that wait and run on testbeds, and the testbeds.
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

// ofQueue is a study of the queue, by the beginning of its ID, as something to be watched.
func (s *Server) ofQueue(r *http.Request) (source, error) {
	id := r.PathValue("id")
	none := missing("the queue has no study %s", id)
	q, err := s.line(r)
	if err != nil || q == nil {
		return source{}, errors.Join(err, none)
	}
	all, err := q.Studies(r.Context(), true)
	if err != nil {
		return source{}, err
	}
	found := list.Filter(all, func(st queue.Study) bool { return strings.HasPrefix(st.ID, id) })
	if len(found) != 1 {
		return source{}, none
	}
	st := found[0]
	// What changes with each trial and each step of the study stands in for its record's
	// size and time, which a queue does not have.
	run := Run{Name: st.ID, Changed: st.Submitted.Add(time.Duration(st.Done)), Bytes: int64(st.Trials), Queued: &st}
	return source{key: "queue/" + st.ID, run: run, read: func() (*record.Record, error) {
		files, err := q.Record(r.Context(), st.ID)
		if err != nil {
			return nil, err
		}
		return queue.ReadRecord(files, st.ID)
	}}, nil
}

// stateQueued is how a study stands by what the queue says of it.
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

// onDiskAll are the studies on disk, the one that changed last first.
func (s *Server) onDiskAll() ([]Run, error) {
	if s.Runs == nil {
		return nil, nil
	}
	return s.Runs.List()
}

// ofDisk is a study on disk as something to be watched.
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

// onDisk is a study on disk that was found.
func (s *Server) onDisk(r Run) source {
	return source{key: "disk/" + r.Name, run: r, read: func() (*record.Record, error) { return s.Runs.Read(r.Name) }}
}

package web

import (
	"html/template"
	"net/http"
	"slices"
	"sync"

	"linerate/internal/queue"
	"linerate/internal/report"
	"linerate/internal/study"
	"linerate/internal/study/record"
)

// reports caches the reports used last, because an analysis takes a while.
type reports struct {
	mu   sync.Mutex
	made map[string]func() (rendered, error)
	used []string // most recent last
}

// rendered is a study's report.
type rendered struct {
	results study.Results
	body    template.HTML
}

// maxReports is the maximum number of cached reports.
const maxReports = 32

// of returns the report of a study, made of its record by the first request; after an error the next one
// tries again.
func (c *reports) of(id string, read func() (*record.Record, error)) (rendered, error) {
	c.mu.Lock()
	if c.made == nil {
		c.made = map[string]func() (rendered, error){}
	}
	if c.made[id] == nil {
		c.made[id] = sync.OnceValues(func() (rendered, error) { return render(read) })
	}
	made := c.made[id]
	c.used = append(slices.DeleteFunc(c.used, func(k string) bool { return k == id }), id)
	if len(c.used) > maxReports {
		delete(c.made, c.used[0])
		c.used = c.used[1:]
	}
	c.mu.Unlock()
	rep, err := made()
	if err != nil {
		c.mu.Lock()
		delete(c.made, id)
		c.mu.Unlock()
	}
	return rep, err
}

func render(read func() (*record.Record, error)) (rendered, error) {
	rec, err := read()
	if err != nil {
		return rendered{}, err
	}
	results := rec.Results()
	results.Warnings = append(rec.Warnings(results), results.Warnings...)
	if !results.Complete {
		results.NoVerdicts(rec.Spec)
	}
	return rendered{results, report.Of(rec.Spec, results).Body()}, nil
}

// Queue is the JSON document of the queue, as in `linerate study queue --all --json`.
type Queue struct {
	queue.Document
	// Exists is false if there is no queue yet.
	Exists bool `json:"exists"`
}

// queue serves the testbeds, and the studies waiting for them and running on them.
func (s *Server) queue(r *http.Request) (*answer, error) {
	doc := Queue{Document: queue.Document{Version: 1, Studies: []queue.Study{}, Testbeds: []queue.Testbed{}}}
	q, err := s.waiting.get(r.Context(), s.OpenQueue)
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

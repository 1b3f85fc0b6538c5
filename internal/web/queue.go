package web

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"linerate/internal/list"
	"linerate/internal/queue"
	"linerate/internal/study/record"
)

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

package smtpload

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"linerate/internal/hint"
	"linerate/internal/load/request"
)

// Queue watches the queue of a Postfix on this machine: the files of its
// queue directory are its messages.
type Queue struct {
	dir   string
	every time.Duration
	stop  chan struct{}
	over  sync.WaitGroup
	began time.Time
	mu    sync.Mutex
	seen  request.Queue
}

// WatchQueue begins to count the messages in a queue directory.
func WatchQueue(dir string, every time.Duration) (*Queue, error) {
	q := &Queue{dir: dir, every: every, stop: make(chan struct{}), began: time.Now()}
	if _, err := q.look(); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, hint.With(fmt.Errorf("read the queue: %w", err), "the queue belongs to Postfix: root may read it")
		}
		return nil, hint.With(fmt.Errorf("%s is no queue of Postfix: %w", dir, err), "postconf queue_directory tells where it is")
	}
	q.over.Go(q.watch)
	return q, nil
}

func (q *Queue) watch() {
	tick := time.NewTicker(q.every)
	defer tick.Stop()
	for {
		select {
		case <-q.stop:
			return
		case <-tick.C:
			_, _ = q.look() // the queue was there at the beginning
		}
	}
}

// look counts, and notes what it found. A message that went from incoming to
// active between the two looks was seen twice, by the same name, and is one.
func (q *Queue) look() (request.Depth, error) {
	d := request.Depth{Seconds: time.Since(q.began).Seconds()}
	incoming, err := messages(filepath.Join(q.dir, "incoming"))
	if err != nil {
		return d, err
	}
	active, err := messages(filepath.Join(q.dir, "active"))
	if err != nil {
		return d, err
	}
	deferred, err := messages(filepath.Join(q.dir, "deferred"))
	if err != nil {
		return d, err
	}
	for id := range active {
		delete(incoming, id)
	}
	d.Incoming, d.Active, d.Deferred = len(incoming), len(active), len(deferred)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.seen.Add(d)
	return d, nil
}

// messages are the files of a queue, which may be spread over directories.
func messages(dir string) (map[string]bool, error) {
	found := map[string]bool{}
	all, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if !e.IsDir() {
			found[e.Name()] = true
			continue
		}
		below, err := messages(filepath.Join(dir, e.Name()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		maps.Copy(found, below)
	}
	return found, nil
}

// drainEvery is how often a queue that is draining is asked whether it is empty.
const drainEvery = 2 * time.Millisecond

// empty asks whether nothing is on its way, at the cost of one entry of each
// directory however long the queue is. A message goes from incoming to active:
// looked at in this order it is seen in one of them.
func (q *Queue) empty() bool {
	return !holds(filepath.Join(q.dir, "incoming")) && !holds(filepath.Join(q.dir, "active"))
}

// holds reports whether there is a message in a directory or below it.
func holds(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	for {
		some, err := f.ReadDir(1)
		if err != nil || len(some) == 0 {
			return false
		}
		if e := some[0]; !e.IsDir() || holds(filepath.Join(dir, e.Name())) {
			return true
		}
	}
}

// Drain ends the watch when no message is on its way any more, or patience is
// at its end. What was deferred is not waited for.
func (q *Queue) Drain(ctx context.Context, patience time.Duration) request.Queue {
	begin := time.Now()
	for time.Since(begin) < patience && ctx.Err() == nil && !q.empty() {
		select {
		case <-ctx.Done():
		case <-time.After(drainEvery):
		}
	}
	took := time.Since(begin)
	close(q.stop)
	q.over.Wait()
	_, _ = q.look() // what is left, for the record
	q.mu.Lock()
	defer q.mu.Unlock()
	q.seen.DrainSeconds = took.Seconds()
	return q.seen
}

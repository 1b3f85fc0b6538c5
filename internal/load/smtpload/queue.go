package smtpload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"linerate/internal/wait"

	"linerate/internal/hint"
	"linerate/internal/load/request"
)

// Queue watches the queue of a local Postfix by counting the message files in
// its queue directory. It uses at most a tenth of a CPU: with a long queue it
// looks less often.
type Queue struct {
	dir   string
	every time.Duration
	stop  chan struct{}
	over  sync.WaitGroup
	mu    sync.Mutex
	seen  request.Queue
}

// WatchQueue starts counting the messages in a queue directory.
func WatchQueue(dir string, every time.Duration) (*Queue, error) {
	q := &Queue{dir: dir, every: every, stop: make(chan struct{})}
	if err := q.look(); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, hint.With(fmt.Errorf("read the queue: %w", err), "the queue belongs to Postfix: root may read it")
		}
		return nil, hint.With(fmt.Errorf("%s is not a Postfix queue: %w", dir, err), "postconf queue_directory tells where it is")
	}
	q.over.Go(q.watch)
	return q, nil
}

func (q *Queue) watch() {
	wait := q.every
	for {
		select {
		case <-q.stop:
			return
		case <-time.After(wait):
			begin := time.Now()
			_ = q.look() // the queue existed at the start
			wait = rest(q.every, time.Since(begin))
		}
	}
}

// rest returns how long to wait after a look that took a time: nine times as
// long, or the rest of the interval.
func rest(every, took time.Duration) time.Duration { return max(every-took, 9*took) }

// look counts messages and records the result. Messages move from incoming to active: in this
// order of directories, a message that moves meanwhile is missed, and none is counted twice.
func (q *Queue) look() error {
	var n [3]int
	for i, name := range []string{"active", "incoming", "deferred"} {
		var err error
		if n[i], err = tally(filepath.Join(q.dir, name)); err != nil {
			return err
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.seen.Waiting, q.seen.Deferred = n[0]+n[1], n[2]
	q.seen.Peak = max(q.seen.Peak, q.seen.Waiting)
	return nil
}

// entriesAtOnce is how many directory entries are read at once.
const entriesAtOnce = 256

// tally counts the messages in a queue, which may have subdirectories.
func tally(dir string) (n int, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for {
		some, err := f.ReadDir(entriesAtOnce)
		for _, e := range some {
			if !e.IsDir() {
				n++
				continue
			}
			below, err := tally(filepath.Join(dir, e.Name()))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return n, err
			}
			n += below
		}
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// drainEvery is the interval for checking whether a draining queue is empty.
const drainEvery = 2 * time.Millisecond

// empty reports whether no message is in transit, reading only one entry of
// each directory however long the queue. Messages move from incoming to
// active: in this order of directories, none can be missed.
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

// Drain ends the watch when no message is in transit, or after patience. It
// does not wait for deferred messages.
func (q *Queue) Drain(ctx context.Context, patience time.Duration) request.Queue {
	begin := time.Now()
	for time.Since(begin) < patience && ctx.Err() == nil && !q.empty() {
		_ = wait.For(ctx, drainEvery)
	}
	took := time.Since(begin)
	close(q.stop)
	q.over.Wait()
	_ = q.look() // records what is left
	q.mu.Lock()
	defer q.mu.Unlock()
	q.seen.DrainSeconds = took.Seconds()
	return q.seen
}

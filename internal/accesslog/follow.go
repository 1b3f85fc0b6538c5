package accesslog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"linerate/internal/wait"
)

// followPoll is how often a followed log is looked at.
const followPoll = 250 * time.Millisecond

// Follow reads a log as it grows, until ctx ends: first what is there (only
// the last o.Last lines, if set), then what is appended. A log that is
// rotated (another file under the name) or cut short is read on from the new
// file's beginning. tick is called every interval with the tally so far,
// which it must not keep.
func Follow(ctx context.Context, path string, o *Options, interval time.Duration, tick func(*Tally) error) (*Tally, string, error) {
	f := &follower{path: path}
	if err := f.open(); err != nil {
		return nil, "", err
	}
	defer func() { f.file.Close() }()
	note, err := f.detect(ctx, o)
	if err != nil {
		return nil, "", err
	}
	if err := o.check(); err != nil {
		return nil, "", err
	}
	w := newWorker(o)
	if o.Last > 0 {
		s := &source{name: path, file: f.file, size: f.size()}
		if f.at, _, err = tailOffset(s, o.Last); err != nil {
			return nil, "", err
		}
	}
	poll, show := time.NewTicker(followPoll), time.NewTicker(interval)
	defer poll.Stop()
	defer show.Stop()
	for {
		if err := f.drain(w); err != nil {
			return w.tally, note, err
		}
		select {
		case <-ctx.Done():
			return w.tally, note, nil
		case <-show.C:
			if err := tick(w.tally); err != nil {
				return w.tally, note, err
			}
		case <-poll.C:
		}
	}
}

// follower is a log that grows.
type follower struct {
	path string
	file *os.File
	at   int64
	rest []byte // of a line that has no end yet
	skip bool   // that line was too long and is counted: its end is to come
}

func (f *follower) open() error {
	file, err := os.Open(f.path)
	if err != nil {
		return fmt.Errorf("follow: %w", err)
	}
	f.file = file
	f.restart()
	return nil
}

// restart reads from the file's beginning.
func (f *follower) restart() { f.at, f.rest, f.skip = 0, nil, false }

func (f *follower) size() int64 {
	info, err := f.file.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// detect waits for the first lines, if the format is not given.
func (f *follower) detect(ctx context.Context, o *Options) (note string, err error) {
	for o.Format == nil {
		s := &source{name: f.path, file: f.file, size: f.size()}
		sample, err := s.sample()
		if err != nil {
			return "", err
		}
		if len(sample) > 0 {
			o.Format, note, err = Detect(sample)
			return note, err
		}
		if err := wait.For(ctx, followPoll); err != nil {
			return "", err
		}
	}
	return "", nil
}

// drain reads what is there, and moves on to a rotated log's successor.
func (f *follower) drain(w *worker) error {
	if f.size() < f.at { // cut short in place
		f.restart()
	}
	buf := make([]byte, 256<<10)
	for {
		n, err := f.file.ReadAt(buf, f.at)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read %s: %w", f.path, err)
		}
		f.at += int64(n)
		f.feed(w, buf[:n])
		if n < len(buf) {
			break
		}
	}
	return f.rotated()
}

// feed counts whole lines and keeps the rest. A line longer than MaxLine is cut there, and
// the rest of it thrown away.
func (f *follower) feed(w *worker, b []byte) {
	if f.skip {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			return
		}
		b, f.skip = b[i+1:], false
	}
	f.rest = append(f.rest, b...)
	end := bytes.LastIndexByte(f.rest, '\n') + 1
	if len(f.rest)-end > MaxLine {
		end, f.skip = len(f.rest), true
	}
	w.chunk(f.rest[:end])
	f.rest = append(f.rest[:0], f.rest[end:]...)
}

// rotated opens the successor of a log that was moved away. Between the move
// and the new file there is none; the old one is then read on.
func (f *follower) rotated() error {
	now, err := os.Stat(f.path)
	if err != nil {
		return nil
	}
	mine, err := f.file.Stat()
	if err != nil || os.SameFile(now, mine) || f.size() > f.at {
		return nil
	}
	f.file.Close()
	return f.open()
}

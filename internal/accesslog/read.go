package accesslog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"linerate/internal/hint"
)

// chunkSize is what a worker reads at once: small enough to stay in its
// core's cache between the copy and the parse.
const chunkSize = 512 << 10

// chunk is some whole lines of a log.
type chunk struct {
	lines []byte
	seq   int64 // of all chunks of a reading
}

// pool tallies chunks on all cores.
type pool struct {
	chunks  chan chunk
	free    chan []byte // buffers, for reuse
	workers []*worker
	wg      sync.WaitGroup
	seq     int64
}

func newPool(o *Options) *pool {
	n := runtime.GOMAXPROCS(0)
	p := &pool{chunks: make(chan chunk, n), free: make(chan []byte, 2*n)}
	for range n {
		w := newWorker(o)
		p.workers = append(p.workers, w)
		p.wg.Go(func() { p.work(w) })
	}
	return p
}

func (p *pool) work(w *worker) {
	for c := range p.chunks {
		w.block = c.seq
		w.chunk(c.lines)
		select {
		case p.free <- c.lines[:0]:
		default:
		}
	}
}

// finish waits and merges.
func (p *pool) finish(o *Options) *Tally {
	close(p.chunks)
	p.wg.Wait()
	t := NewTally(o)
	for _, w := range p.workers {
		t.Merge(w.tally)
	}
	return t
}

// hand gives lines to the next free worker.
func (p *pool) hand(ctx context.Context, lines []byte) error {
	p.seq++
	select {
	case p.chunks <- chunk{lines, p.seq}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stream cuts a stream into buffers of whole lines. A line longer than
// MaxLine is cut there, and the rest of it thrown away.
func (p *pool) stream(ctx context.Context, s *source) error {
	var rest []byte
	for skipping := false; ; {
		buf := p.buffer()
		buf = append(buf, rest...)
		buf, err := fill(s.stream, buf)
		ended := err != nil
		if skipping {
			i := bytes.IndexByte(buf, '\n')
			if i < 0 && !ended {
				rest = nil
				continue
			}
			buf, skipping = buf[i+1:], false
		}
		cut := len(buf)
		if !ended {
			cut = bytes.LastIndexByte(buf, '\n') + 1
		}
		rest = append([]byte(nil), buf[cut:]...)
		if len(rest) > MaxLine {
			buf, cut, rest, skipping = append(buf[:cut], rest...), len(buf), nil, true
		}
		if err := p.hand(ctx, buf[:cut]); err != nil {
			return err
		}
		if ended {
			if !errors.Is(err, io.EOF) {
				return fmt.Errorf("read %s: %w", s.name, err)
			}
			return nil
		}
	}
}

// fill reads until buf's capacity is used or the stream ends; what was read
// before an error counts.
func fill(r io.Reader, buf []byte) ([]byte, error) {
	for len(buf) < cap(buf) {
		n, err := r.Read(buf[len(buf):cap(buf)])
		if buf = buf[:len(buf)+n]; err != nil {
			return buf, err
		}
	}
	return buf, nil
}

// buffer takes a used buffer or makes one, with room for a long line.
func (p *pool) buffer() []byte {
	select {
	case b := <-p.free:
		if cap(b) >= chunkSize {
			return b
		}
	default:
	}
	return make([]byte, 0, chunkSize+MaxLine+1)
}

// Read tallies logs: paths, or "-" for standard input. Where o.Format is nil
// it is found from the first log that has lines; note then says what was
// assumed. A tally with an error is what could be read.
func Read(ctx context.Context, paths []string, stdin io.Reader, o *Options) (t *Tally, note string, err error) {
	sources, err := openAll(OrderRotated(paths), stdin)
	defer func() {
		for _, s := range sources {
			s.close()
		}
	}()
	if err != nil {
		return nil, "", err
	}
	if o.Format == nil {
		if o.Format, note, err = detectIn(sources); err != nil {
			return nil, "", err
		}
	}
	if o.Unit != nil {
		note = "" // nothing had to be assumed
	}
	if err := o.check(); err != nil {
		return nil, "", err
	}
	p := newPool(o)
	for _, s := range sources {
		if err = p.stream(ctx, s); err != nil {
			break
		}
	}
	return p.finish(o), note, err
}

// check refuses options that the format cannot serve.
func (o *Options) check() error {
	if o.Unit != nil {
		o.Format.SetUnit(*o.Unit)
	}
	if !o.Format.Has(Latency) {
		return hint.With(fmt.Errorf("the log format %s has no request time", o.Format.Name),
			"append $request_time (NGINX) or %%D (Apache) to the server's format, and give it: %s", hint.Option("format", "'…'"))
	}
	if o.Failed && !o.Format.Has(Status) {
		return fmt.Errorf("the log format %s has no status", o.Format.Name)
	}
	return o.Filter.check(o.Format)
}

func openAll(paths []string, stdin io.Reader) ([]*source, error) {
	var sources []*source
	for _, path := range paths {
		s, err := open(path, stdin)
		if err != nil {
			return sources, err
		}
		sources = append(sources, s)
	}
	return sources, nil
}

// detectIn detects the format from the first log that has lines.
func detectIn(sources []*source) (*Format, string, error) {
	var f *Format
	var note string
	err := errors.New("the log is empty")
	for _, s := range sources {
		var sample []byte
		if sample, err = s.sample(); err != nil {
			return nil, "", err
		}
		if len(sample) == 0 {
			err = fmt.Errorf("%s is empty", s.name)
			continue
		}
		if f, note, err = Detect(sample); err != nil {
			return nil, "", fmt.Errorf("%s: %w", s.name, err)
		}
		return f, note, nil
	}
	return nil, "", err
}

package accesslog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// chunkSize is what a worker reads at once: small enough to stay in its
// core's cache between the copy and the parse.
const chunkSize = 512 << 10

// task is a piece of work: a range of a file, or lines in memory.
type task struct {
	file     *os.File
	name     string
	from, to int64
	buf      []byte
	seq      int64 // of all tasks of a reading
}

// pool runs tasks on all cores.
type pool struct {
	tasks   chan task
	free    chan []byte // buffers of streams, for reuse
	workers []*worker
	wg      sync.WaitGroup
	done    atomic.Int64 // bytes
	seq     int64
	mu      sync.Mutex
	err     error
}

func newPool(o *Options) *pool {
	n := runtime.GOMAXPROCS(0)
	p := &pool{tasks: make(chan task, n), free: make(chan []byte, 2*n)}
	for range n {
		w := newWorker(o)
		p.workers = append(p.workers, w)
		p.wg.Add(1)
		go p.work(w)
	}
	return p
}

func (p *pool) work(w *worker) {
	defer p.wg.Done()
	var buf []byte // of files alone: a live study reads a few lines at a time, again and again
	for t := range p.tasks {
		w.block = t.seq
		if t.file == nil {
			w.chunk(t.buf)
			p.done.Add(int64(len(t.buf)))
			select {
			case p.free <- t.buf[:0]:
			default:
			}
			continue
		}
		var err error
		if buf, err = w.fileRange(t, buf); err != nil {
			p.fail(err)
		}
		p.done.Add(t.to - t.from)
	}
}

func (p *pool) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = errors.Join(p.err, err)
}

// finish waits and merges.
func (p *pool) finish(o *Options) (*Tally, error) {
	close(p.tasks)
	p.wg.Wait()
	t := NewTally(o)
	for _, w := range p.workers {
		t.Merge(w.tally)
	}
	return t, p.err
}

// fileRange reads the lines that begin in [from, to): it starts after the
// first newline at or after from−1, and reads past to for the end of its last
// line. buf is reused and may grow.
func (w *worker) fileRange(t task, buf []byte) ([]byte, error) {
	start := max(t.from-1, 0)
	want := int(t.to - start)
	if len(buf) < want+4096 {
		buf = make([]byte, want+4096)
	}
	n, err := readAt(t, buf, start)
	if err != nil {
		return buf, err
	}
	b := buf[:n]
	if t.from > 0 {
		i := bytes.IndexByte(b[:min(want, n)], '\n')
		if i < 0 {
			return buf, nil // inside one line that began earlier
		}
		b, want = b[i+1:], want-i-1
	}
	if want <= 0 || len(b) == 0 {
		return buf, nil
	}
	// The last line that begins before want ends at the first newline at or
	// after want−1.
	from := min(want, len(b)) - 1
	if i := bytes.IndexByte(b[from:], '\n'); i >= 0 {
		w.chunk(b[:from+i+1])
		return buf, nil
	}
	if n < len(buf) { // the file ends here
		w.chunk(b)
		return buf, nil
	}
	return buf, w.longTail(t, b, start+int64(n))
}

// longTail reads on for the end of a last line that is longer than the spare
// room of a buffer.
func (w *worker) longTail(t task, b []byte, at int64) error {
	line := append([]byte(nil), b...)
	more := make([]byte, 64<<10)
	head := bytes.LastIndexByte(line, '\n') + 1
	for len(line)-head <= MaxLine {
		n, err := readAt(t, more, at)
		if err != nil {
			return err
		}
		if i := bytes.IndexByte(more[:n], '\n'); i >= 0 {
			line = append(line, more[:i+1]...)
			break
		}
		line = append(line, more[:n]...)
		if at += int64(n); n < len(more) {
			break
		}
	}
	w.chunk(line)
	return nil
}

// readAt fills buf from a file; fewer bytes mean that the file ends.
func readAt(t task, buf []byte, at int64) (int, error) {
	n, err := t.file.ReadAt(buf, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, fmt.Errorf("read %s: %w", t.name, err)
	}
	return n, nil
}

// hand gives a task to the next free worker.
func (p *pool) hand(ctx context.Context, t task) error {
	p.seq++
	t.seq = p.seq
	select {
	case p.tasks <- t:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// file hands a plain file out in ranges.
func (p *pool) file(ctx context.Context, s *source, from int64) error {
	for at := from; at < s.size; at += chunkSize {
		if err := p.hand(ctx, task{file: s.file, name: s.name, from: at, to: min(at+chunkSize, s.size)}); err != nil {
			return err
		}
	}
	return nil
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
		if err := p.hand(ctx, task{buf: buf[:cut]}); err != nil {
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

// Progress is called now and then with the bytes read so far; total is 0
// where it is not known.
type Progress func(done, total int64)

// Read tallies logs: paths, or "-" for standard input. Where o.Format is nil
// it is found from the first log that has lines; note then says what was
// assumed.
func Read(ctx context.Context, paths []string, stdin io.Reader, o *Options, progress Progress) (t *Tally, note string, err error) {
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
	stop := p.report(sources, progress)
	err = p.feed(ctx, sources, o)
	t, readErr := p.finish(o)
	stop()
	return t, note, errors.Join(err, readErr)
}

func (p *pool) feed(ctx context.Context, sources []*source, o *Options) error {
	if o.Last > 0 {
		return p.tail(ctx, sources, o.Last)
	}
	for _, s := range sources {
		var err error
		if s.file != nil {
			err = p.file(ctx, s, 0)
		} else {
			err = p.stream(ctx, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
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

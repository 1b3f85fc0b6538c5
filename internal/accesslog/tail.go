package accesslog

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"linerate/internal/hint"
)

// maxLast bounds --last where lines must be kept in memory.
const maxLast = 1 << 20

// check refuses options that the format cannot serve.
func (o *Options) check() error {
	if o.Unit != nil {
		o.Format.SetUnit(*o.Unit)
	}
	if !o.Format.Has(Latency) {
		return hint.With(fmt.Errorf("the log format %s has no request time", o.Format.Name),
			"append $request_time (NGINX) or %%D (Apache) to the server's format, and give it: %s", hint.Option("format", "'…'"))
	}
	if o.By != None && !o.Format.Has(o.By) {
		return fmt.Errorf("the log format %s has no %s to group by", o.Format.Name, o.By)
	}
	if o.Last > maxLast {
		return hint.Usagef("at most the last %d lines can be taken", maxLast)
	}
	return o.Filter.check(o.Format)
}

// tail reads the last n lines of a set: from its last log backwards until
// there are enough.
func (p *pool) tail(ctx context.Context, sources []*source, n int) error {
	for i := len(sources) - 1; i >= 0 && n > 0; i-- {
		s := sources[i]
		if s.file == nil {
			lines, got, err := lastLines(ctx, s, n)
			if err != nil {
				return err
			}
			if err := p.hand(ctx, task{buf: lines}); err != nil {
				return err
			}
			n -= got
			continue
		}
		from, got, err := tailOffset(s, n)
		if err != nil {
			return err
		}
		if err := p.file(ctx, s, from); err != nil {
			return err
		}
		n -= got
	}
	return nil
}

// tailOffset finds where the last n lines of a file begin, reading backwards.
func tailOffset(s *source, n int) (from int64, got int, err error) {
	buf := make([]byte, 64<<10)
	end := s.size
	newlines := 0
	for end > 0 {
		at := max(0, end-int64(len(buf)))
		b := buf[:end-at]
		if _, err := s.file.ReadAt(b, at); err != nil && !errors.Is(err, io.EOF) {
			return 0, 0, fmt.Errorf("read %s: %w", s.name, err)
		}
		for i := len(b) - 1; i >= 0; i-- {
			if b[i] != '\n' || at+int64(i) == s.size-1 {
				continue // the newline that ends the file begins no line
			}
			if newlines++; newlines == n {
				return at + int64(i) + 1, n, nil
			}
		}
		end = at
	}
	if s.size == 0 {
		return 0, 0, nil
	}
	return 0, newlines + 1, nil
}

// lastLines keeps the last n lines of a stream, whose end cannot be sought.
func lastLines(ctx context.Context, s *source, n int) (lines []byte, got int, err error) {
	ring := make([][]byte, 0, min(n, 4096))
	next := 0
	keep := func(line []byte) {
		if len(ring) < n {
			ring = append(ring, append([]byte(nil), line...))
			return
		}
		ring[next] = append(ring[next][:0], line...)
		next = (next + 1) % n
	}
	var long []byte
	for {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		line, err := s.peek.ReadSlice('\n')
		long = append(long, line[:min(len(line), MaxLine+1-len(long))]...) // one byte too many shows that it is too long
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if len(long) > 0 {
			keep(bytes.TrimSuffix(long, []byte{'\n'}))
			long = long[:0]
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, 0, fmt.Errorf("read %s: %w", s.name, err)
		}
	}
	for i := range ring {
		lines = append(append(lines, ring[(next+i)%len(ring)]...), '\n')
	}
	return lines, len(ring), nil
}

// report calls progress until stopped.
func (p *pool) report(sources []*source, progress Progress) (stop func()) {
	if progress == nil {
		return func() {}
	}
	var total int64
	for _, s := range sources {
		if s.file == nil {
			total = 0
			break
		}
		total += s.size
	}
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				progress(p.done.Load(), total)
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

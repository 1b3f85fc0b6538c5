package accesslog

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"linerate/internal/hint"
)

// sampleSize is how many bytes of a log Detect examines.
const sampleSize = 64 << 10

// Read tallies logs, given by path or "-" for standard input. If o.Format is
// nil it is detected from the first log that is not empty, and note states
// what was assumed. With an error, the tally covers what could be read.
func Read(ctx context.Context, paths []string, stdin io.Reader, o *Options) (t *Tally, note string, err error) {
	err = errors.New("there is no log to read")
	for _, path := range paths {
		if err = o.open(path, stdin, func(r *bufio.Reader) error {
			if t == nil {
				said, err := o.prepare(r)
				if err != nil {
					return err
				}
				t, note = NewTally(o), said
			}
			return t.read(ctx, r)
		}); err != nil && !(errors.Is(err, errEmpty) && len(paths) > 1) {
			return t, note, fmt.Errorf("%s: %w", path, err)
		}
	}
	if t != nil {
		err = nil
	}
	return t, note, err
}

var errEmpty = errors.New("the log is empty")

// open opens a path, or standard input for "-", and decompresses it according
// to its first bytes, whatever its name.
func (o *Options) open(path string, stdin io.Reader, do func(*bufio.Reader) error) error {
	in := stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return hint.With(errors.New("a directory"), "name its files: %s", filepath.Join(path, "access.log*"))
		}
		in = f
	}
	raw := bufio.NewReader(in)
	magic, err := raw.Peek(4)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		if in, err = gzip.NewReader(raw); err != nil {
			return err
		}
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(raw, zstd.WithDecoderMaxWindow(128<<20), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return err
		}
		defer z.Close()
		in = z
	default:
		in = raw
	}
	return do(bufio.NewReaderSize(in, MaxLine+1))
}

// prepare detects the format of a log, unless it is given, and returns an error for
// options that the format does not support.
func (o *Options) prepare(r *bufio.Reader) (note string, err error) {
	if o.Format == nil {
		sample, err := r.Peek(sampleSize)
		if len(sample) == 0 {
			return "", errEmpty
		}
		if err != nil {
			if !errors.Is(err, io.EOF) && len(sample) < MaxLine {
				return "", err
			}
			sample = append(bytes.Clone(sample), '\n') // the last line may lack its newline
		}
		if o.Format, note, err = Detect(sample); err != nil {
			return "", err
		}
	}
	if o.Unit != 0 {
		o.Format.unit, note = o.Unit, "" // nothing was assumed
	}
	switch {
	case !o.Format.Has(Latency):
		return "", hint.With(fmt.Errorf("the log format %s has no request time", o.Format.Name),
			"append $request_time (NGINX) or %%D (Apache) to the server's format, and give it: %s", hint.Option("format", "'…'"))
	case o.Failed && !o.Format.Has(Status):
		return "", fmt.Errorf("the log format %s has no status", o.Format.Name)
	}
	return note, o.Filter.check(o.Format)
}

// read tallies the lines of one log.
func (t *Tally) read(ctx context.Context, r *bufio.Reader) error {
	t.prev = 0
	for long := false; ; {
		line, err := r.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if !long {
				t.Lines++
				t.bad(TooLong, line)
			}
			long = true
			continue
		case long: // the rest of a long line
		case len(line) > 0:
			t.line(bytes.TrimRight(line, "\r\n"))
		}
		long = false
		if err == nil && t.Lines&0xfff == 0 {
			err = ctx.Err()
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// line tallies one line.
func (t *Tally) line(b []byte) {
	t.Lines++
	t.at = parts{}
	unit, ok := t.opts.Format.split(b, &t.at)
	if !ok {
		t.bad(Shape, b)
		return
	}
	f, status := &t.opts.Filter, 0
	if t.opts.Failed || len(f.Statuses) > 0 {
		if status = parseStatus(t.at[Status]); status == 0 {
			t.bad(BadStatus, b)
			return
		}
	}
	if !f.takesStatus(status) || f.Path != "" && !bytes.HasPrefix(t.at[Path], []byte(f.Path)) {
		return
	}
	unix := t.Lines // the line number, in a log without times
	if (t.timeline != nil || t.opts.Each != nil) && t.opts.Format.Has(Time) {
		if unix, ok = t.clock.parse(t.at[Time]); !ok {
			t.bad(BadTime, b)
			return
		}
		if t.prev != 0 && unix < t.prev-60 {
			t.Backward++
		}
		t.prev = unix
	}
	us, ok := parseLatency(t.at[Latency], unit)
	switch {
	case !ok && len(t.at[Latency]) > 1 && t.at[Latency][0] == '-':
		t.bad(Negative, b)
	case !ok:
		t.bad(NoLatency, b)
	case us > MaxLatency:
		t.bad(OutOfRange, b)
	default:
		if t.opts.Each != nil {
			t.opts.Each(b, time.Duration(us)*time.Microsecond, unix)
		}
		t.add(us, unix, status >= 500 && status <= 599)
	}
}

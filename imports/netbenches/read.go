package netbenches

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"

	"linerate/internal/show"

	"github.com/klauspost/compress/zstd"
)

// Stored is a file of bare numbers next to the logs: a reduction that somebody
// published or compared.
type Stored struct {
	File   *File
	Dir    string
	Name   string
	Values []float64
}

// Plot is one gnuplot.data.
type Plot struct {
	File *File
	Dir  string
	Rows []Plotted
}

// InfoDoc is one .info file.
type InfoDoc struct {
	File *File
	Dir  string
	Key  string
	Info Info
}

// Read lists a tree and reads it with all cores.
func Read(ctx context.Context, root string, opt Options) (*Tree, error) {
	t, err := List(ctx, root)
	if err != nil {
		return nil, err
	}
	return t, t.Load(ctx, opt)
}

// Load reads and parses every file of a listed tree.
func (t *Tree) Load(ctx context.Context, opt Options) error {
	n := opt.Workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	var next, read atomic.Int64
	parsed := make([]parsed, len(t.Files))
	errs := make([]error, n)
	var wg sync.WaitGroup
	for w := range n {
		wg.Go(func() { errs[w] = t.work(ctx, opt, parsed, &next, &read) })
	}
	wg.Wait()
	t.Bytes = read.Load()
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	t.assemble(parsed)
	return nil
}

// parsed is what came of one file; at most one field is set.
type parsed struct {
	log    *Reading
	eq     *Equilibrium
	info   *Info
	values []float64
	plot   []Plotted
	readme *Readme
	lab    *Lab
	config []Assignment
	work   *Workload
}

// reader is one worker's buffers.
type reader struct {
	t    *Tree
	opt  Options
	buf  bytes.Buffer
	pack *zstd.Encoder
}

func (t *Tree) work(ctx context.Context, opt Options, out []parsed, next, read *atomic.Int64) error {
	r := &reader{t: t, opt: opt}
	if opt.Pack {
		enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
		if err != nil {
			return fmt.Errorf("compressor: %w", err)
		}
		r.pack = enc
	}
	const stride = 16 // neighbours are on the same folder, and one atomic does for all
	for ctx.Err() == nil {
		from := next.Add(stride) - stride
		if from >= int64(len(t.Files)) {
			return nil
		}
		for i := from; i < min(from+stride, int64(len(t.Files))); i++ {
			out[i] = r.file(t.Files[i])
			read.Add(t.Files[i].Size)
		}
	}
	return nil
}

// file reads and parses one file, noting in it what went wrong.
func (r *reader) file(f *File) (p parsed) {
	if f.Problem != "" {
		return p
	}
	switch f.Role {
	case RoleSecret:
		f.Problem = "may hold a key: not read"
		return p
	case RoleProfile, RoleHook:
		if r.opt.Pack {
			r.hashOnly(f)
		}
		return p
	}
	limit := int64(maxTextRead)
	if f.Role == RoleReceiver || f.Role == RoleSender || f.Role == RoleRaw {
		limit = maxParsed
	}
	if f.Role == RoleValues && f.Size > 256<<10 {
		f.Role = RoleOther
		r.hashOnly(f)
		return p
	}
	if f.Size > limit {
		f.Problem = fmt.Sprintf("larger than %s: not read", show.Bytes(float64(limit)))
		return p
	}
	data, err := r.slurp(f)
	if err != nil {
		f.Problem = cause(err)
		return p
	}
	sum := sha256.Sum256(data)
	f.SHA256 = hex.EncodeToString(sum[:])
	p = r.parse(f, data)
	if r.pack != nil && f.Role != RoleOther {
		f.Packed = r.pack.EncodeAll(data, make([]byte, 0, len(data)/4+64))
	}
	return p
}

// slurp reads the file into the worker's buffer, valid until the next call.
func (r *reader) slurp(f *File) ([]byte, error) {
	in, err := os.Open(filepath.Join(r.t.Root, filepath.FromSlash(f.Path)))
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r.buf.Reset()
	r.buf.Grow(int(f.Size) + bytes.MinRead)
	if _, err := r.buf.ReadFrom(io.LimitReader(in, f.Size+1)); err != nil {
		return nil, err
	}
	if int64(r.buf.Len()) != f.Size {
		return nil, fmt.Errorf("changed while it was read")
	}
	return r.buf.Bytes(), nil
}

func (r *reader) hashOnly(f *File) {
	if f.Size > maxHashed {
		f.Problem = "too large to hash"
		return
	}
	in, err := os.Open(filepath.Join(r.t.Root, filepath.FromSlash(f.Path)))
	if err != nil {
		f.Problem = cause(err)
		return
	}
	defer in.Close()
	h := sha256.New()
	if _, err := io.Copy(h, in); err != nil {
		f.Problem = cause(err)
		return
	}
	f.SHA256 = hex.EncodeToString(h.Sum(nil))
}

// parse reads the content by its role; a role that the content belies is
// corrected.
func (r *reader) parse(f *File, data []byte) (p parsed) {
	switch f.Role {
	case RoleReceiver, RoleSender, RoleRaw:
		return parseRun(f, data)
	case RoleInfo:
		in, err := ParseInfo(data)
		if err != nil {
			f.Problem = "not an .info file: " + err.Error()
			return p
		}
		p.info = &in
	case RoleValues:
		v, ok := ParseValues(data)
		switch {
		case ok:
			p.values = v
		case len(bytes.TrimSpace(data)) == 0 && path.Ext(f.Path) == ".pps":
			f.Problem = "empty"
		default:
			f.Role = RoleOther
		}
	case RoleGnuplot:
		var bad []int
		if p.plot, bad = ParseGnuplot(data); len(bad) > 0 {
			f.Problem = fmt.Sprintf("line %d: not index, median, minimum, maximum", bad[0])
		}
	case RoleReadme:
		p.readme = parseReadme(f, data)
	case RoleConfig:
		p.config = ParseSettings(f.Path, data)
	case RoleLab:
		p.lab = ParseLab(data)
	case RoleWorkload:
		p.work = ParseWorkload(data)
	}
	return p
}

// parseRun reads a log, whichever tool wrote it.
func parseRun(f *File, data []byte) (p parsed) {
	if len(bytes.TrimSpace(data)) == 0 {
		f.Problem = "empty"
		p.log = &Reading{File: f, Empty: true}
		return p
	}
	if IsEquilibrium(data) {
		e := ParseEquilibrium(data)
		if !e.Done {
			f.Problem = "the search has no estimate"
		}
		p.eq = &e
		return p
	}
	l := ParseLog(data)
	if len(l.Intervals) == 0 && l.Ended == "" && len(l.Faults) == 0 {
		f.Problem = "no report of packets in it"
		if f.Role == RoleRaw {
			f.Role, f.Problem = RoleOther, ""
			return p
		}
	}
	p.log = reading(f, &l)
	return p
}

func reading(f *File, l *Log) *Reading {
	r := &Reading{
		File: f, Command: l.Command, Host: l.Host, Lines: l.Lines,
		Packets: l.Packets, Seconds: l.Seconds, Faults: l.Faults,
		Rates: make([]float64, len(l.Intervals)),
	}
	r.Script[MeanOfMiddle], r.Usable = l.ScriptMedian(MeanOfMiddle)
	r.Script[UpperMiddle], _ = l.ScriptMedian(UpperMiddle)
	r.Steady, r.Settled = l.Steady()
	for i, iv := range l.Intervals {
		r.Rates[i] = iv.PPS
	}
	if n := len(l.Intervals); n > 0 {
		r.First, r.Last = l.Intervals[0].Line, l.Intervals[n-1].Line
	}
	return r
}

// digestOf hashes what write adds.
func digestOf(write func(add func(string))) string {
	h := sha256.New()
	write(func(s string) { io.WriteString(h, s) }) //nolint:errcheck // a hash never fails
	return hex.EncodeToString(h.Sum(nil))
}

package netbenches

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"linerate/internal/show"
)

// parsed is the result of parsing a file; at most one field is set.
type parsed struct {
	log    *Reading
	eq     *Equilibrium
	info   *Info
	readme *Readme
	values []float64
	config []Assignment
}

// Load reads and parses all files of a listed tree on all cores. With pack, it keeps
// the compressed content of files that numbers come from.
func (t *Tree) Load(ctx context.Context, pack bool) error {
	var next, read atomic.Int64
	out := make([]parsed, len(t.Files))
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
		if err != nil {
			return fmt.Errorf("compressor: %w", err)
		}
		if !pack {
			enc = nil
		}
		wg.Go(func() {
			for ctx.Err() == nil {
				i := next.Add(1) - 1
				if i >= int64(len(t.Files)) {
					return
				}
				out[i] = t.file(t.Files[i], enc)
				read.Add(t.Files[i].Size)
			}
		})
	}
	wg.Wait()
	t.Bytes = read.Load()
	if err := ctx.Err(); err != nil {
		return err
	}
	t.assemble(out)
	return nil
}

// file reads and parses a file, and records any problem in it.
func (t *Tree) file(f *File, pack *zstd.Encoder) (p parsed) {
	limit := int64(maxTextRead)
	switch {
	case f.Problem != "" || f.Role == RoleProfile:
		return p
	case f.Role == RoleSecret:
		f.Problem = "may hold a key: not read"
		return p
	case f.Role == RoleReceiver || f.Role == RoleSender || f.Role == RoleRaw:
		limit = maxParsed
	case f.Role == RoleValues && f.Size > maxValues:
		f.Role = RoleOther
		return p
	}
	if f.Size > limit {
		f.Problem = fmt.Sprintf("larger than %s: not read", show.Bytes(float64(limit)))
		return p
	}
	data, err := os.ReadFile(filepath.Join(t.Root, filepath.FromSlash(f.Path)))
	if err != nil {
		f.Problem = cause(err)
		return p
	}
	if int64(len(data)) != f.Size {
		f.Problem = "changed while it was read"
		return p
	}
	sum := sha256.Sum256(data)
	f.SHA256 = hex.EncodeToString(sum[:])
	p = parse(f, data)
	if pack != nil && f.Role != RoleOther {
		f.Packed = pack.EncodeAll(data, make([]byte, 0, len(data)/4+64))
	}
	return p
}

// parse parses the content according to the file's role, and corrects a role
// that does not fit the content.
func parse(f *File, data []byte) (p parsed) {
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
		pps := path.Ext(f.Path) == ".pps"
		if p.values = numbers(data); pps && len(bytes.TrimSpace(data)) == 0 {
			f.Problem = "empty"
		} else if p.values == nil {
			f.Role = RoleOther
		}
	case RoleReadme:
		p.readme = parseReadme(f.Path, data)
	case RoleConfig:
		p.config = ParseSettings(f.Path, data)
	}
	return p
}

// numbers parses a file with one number per line, such as a published reduction. It
// returns nil if the file contains anything else.
func numbers(data []byte) (out []float64) {
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		v, err := strconv.ParseFloat(string(line), 64)
		if err != nil || !(v >= 0 && v <= 1e15) {
			return nil
		}
		out = append(out, v)
	}
	return out
}

// parseRun parses a log of either tool.
func parseRun(f *File, data []byte) (p parsed) {
	if len(bytes.TrimSpace(data)) == 0 {
		f.Problem = "empty"
		p.log = &Reading{File: f, Empty: true}
		return p
	}
	if IsEquilibrium(data) {
		e := ParseEquilibrium(data)
		e.File = f
		if !e.Done {
			f.Problem = "the search has no estimate"
		}
		p.eq = &e
		return p
	}
	l := ParseLog(data)
	if len(l.Intervals) == 0 && !l.Ended && len(l.Faults) == 0 {
		if f.Role == RoleRaw {
			f.Role = RoleOther
			return p
		}
		f.Problem = "no report of packets in it"
	}
	p.log = reading(f, l)
	return p
}

package study

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"linerate/internal/load"
)

// RawName is the name of an instance's file in the study's directory.
func (in Instance) RawName() string {
	return fmt.Sprintf("slices-%s-%d-%d.csv.gz", in.Part, in.Block, in.Attempt)
}

// rawColumns are those of an instance's file. Time runs on from line to line:
// after_us is how long after the last slice's beginning this one began.
const rawColumns = "lane,flags,frames,ns,after_us"

// Encode writes an instance as gzipped CSV behind one line of JSON that says
// what it is. The same instance gives the same bytes.
func (in Instance) Encode() ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	head, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("write the slices of block %d: %w", in.Block, err)
	}
	w := bufio.NewWriter(z)
	fmt.Fprintf(w, "# %s\n%s\n", head, rawColumns)
	var last uint32
	for _, s := range in.Slices {
		fmt.Fprintf(w, "%d,%d,%d,%d,%d\n", s.Lane, s.Flags, s.Frames, s.NS, s.At-last)
		last = s.At
	}
	if err := errors.Join(w.Flush(), z.Close()); err != nil {
		return nil, fmt.Errorf("write the slices of block %d: %w", in.Block, err)
	}
	return b.Bytes(), nil
}

// maxRawBytes bounds what a file of slices may unpack to.
const maxRawBytes = maxSlices * 48

// DecodeInstance reads what Encode wrote.
func DecodeInstance(data []byte) (Instance, error) {
	var in Instance
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return in, fmt.Errorf("read slices: %w", err)
	}
	lines := bufio.NewScanner(io.LimitReader(z, maxRawBytes))
	var at uint32
	for n := 1; lines.Scan(); n++ {
		switch line := lines.Text(); n {
		case 1:
			head, ok := strings.CutPrefix(line, "# ")
			if !ok {
				return in, errors.New("read slices: line 1 does not say what they are")
			}
			if err := json.Unmarshal([]byte(head), &in); err != nil {
				return in, fmt.Errorf("read slices: line 1: %w", err)
			}
			if len(in.Arms) == 0 || len(in.Arms) > load.MaxLanes {
				return in, fmt.Errorf("read slices: %d arms, from 1 to %d", len(in.Arms), load.MaxLanes)
			}
		case 2:
			if line != rawColumns {
				return in, fmt.Errorf("read slices: columns %q, want %q", line, rawColumns)
			}
		default:
			s, err := parseSlice(line, len(in.Arms), at)
			if err != nil {
				return in, fmt.Errorf("read slices: line %d: %w", n, err)
			}
			at = s.At
			in.Slices = append(in.Slices, s)
		}
	}
	if err := lines.Err(); err != nil {
		return in, fmt.Errorf("read slices: %w", err)
	}
	return in, nil
}

func parseSlice(line string, lanes int, at uint32) (s load.Slice, err error) {
	var v [5]uint32
	fields := strings.Split(line, ",")
	if len(fields) != len(v) {
		return s, fmt.Errorf("%d fields, want %d", len(fields), len(v))
	}
	for i, f := range fields {
		n, err := strconv.ParseUint(f, 10, 32)
		if err != nil {
			return s, err
		}
		v[i] = uint32(n)
	}
	if int(v[0]) >= lanes || v[1] > 255 {
		return s, fmt.Errorf("lane %d of %d, flags %d", v[0], lanes, v[1])
	}
	return load.Slice{Lane: int(v[0]), Flags: load.SliceFlag(v[1]), Frames: v[2], NS: v[3], At: at + v[4]}, nil
}

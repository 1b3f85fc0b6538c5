package profile

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/pprof/profile"

	"linerate/internal/show"
)

// Read reads what WritePprof wrote.
func Read(data []byte) (p *Profile, err error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("decompress a profile: %w", err)
	}
	data, err = io.ReadAll(io.LimitReader(z, maxBytes+1))
	if err == nil && len(data) > maxBytes {
		err = fmt.Errorf("a profile larger than %s", show.Bytes(maxBytes))
	}
	if err != nil {
		return nil, err
	}
	// The library trusts its input in places.
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, errors.New("not a pprof profile: its tables contradict each other")
		}
	}()
	in, err := profile.ParseUncompressed(data)
	if err != nil || len(in.SampleType) == 0 {
		return nil, errors.Join(errors.New("not a pprof profile"), err)
	}
	t := in.SampleType[0]
	unit := cmp.Or(t.Unit, t.Type)
	if unit == "count" {
		unit = "samples"
	}
	b := NewBuilder(t.Type, unit)
	for _, s := range in.Sample {
		var frames []Frame
		for l := len(s.Location) - 1; l >= 0 && len(frames) <= maxDepth; l-- {
			frames = append(frames, pprofFrames(s.Location[l])...)
		}
		if err := b.Add(frames, s.Value[0]); err != nil {
			return nil, err
		}
	}
	return b.Profile(), nil
}

// pprofFrames are a location's function and those inlined into it, outermost
// first.
func pprofFrames(l *profile.Location) []Frame {
	module := ""
	if l.Mapping != nil {
		module = valid(l.Mapping.File)
	}
	if len(l.Line) == 0 {
		return []Frame{{fmt.Sprintf("0x%x", l.Address), module}}
	}
	var frames []Frame
	for i := len(l.Line) - 1; i >= 0; i-- {
		name := "[unknown]"
		if f := l.Line[i].Function; f != nil && f.Name != "" {
			name = valid(f.Name)
		}
		frames = append(frames, Frame{name, module})
	}
	return frames
}

// valid is a name that any page can show.
func valid(name string) string { return strings.ToValidUTF8(name, "?") }

// WritePprof writes the profile as pprof's compressed protocol buffers, which
// go tool pprof opens.
func (p *Profile) WritePprof(w io.Writer) error {
	unit := p.Unit
	if unit == "samples" {
		unit = "count"
	}
	event := cmp.Or(strings.TrimSpace(p.Event), "samples")
	out := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: event, Unit: unit}},
		PeriodType: &profile.ValueType{Type: event, Unit: unit},
		Period:     1,
		Comments:   p.Notes,
	}
	t := pprofTables{out: out, mappings: map[string]*profile.Mapping{}, locations: map[Frame]*profile.Location{}}
	for _, s := range p.Stacks {
		at := make([]*profile.Location, len(s.Frames))
		for i, f := range s.Frames {
			at[len(s.Frames)-1-i] = t.location(f)
		}
		out.Sample = append(out.Sample, &profile.Sample{Location: at, Value: []int64{s.Value}})
	}
	if err := out.CheckValid(); err != nil {
		return err
	}
	return out.Write(w)
}

// pprofTables numbers what samples refer to.
type pprofTables struct {
	out       *profile.Profile
	mappings  map[string]*profile.Mapping
	locations map[Frame]*profile.Location
}

func (t *pprofTables) location(f Frame) *profile.Location {
	if l, ok := t.locations[f]; ok {
		return l
	}
	fn := &profile.Function{ID: uint64(len(t.out.Function) + 1), Name: f.Name, SystemName: f.Name}
	t.out.Function = append(t.out.Function, fn)
	l := &profile.Location{ID: fn.ID, Mapping: t.mapping(f.Module), Line: []profile.Line{{Function: fn}}}
	t.out.Location = append(t.out.Location, l)
	t.locations[f] = l
	return l
}

// mapping is nil for a module without a name.
func (t *pprofTables) mapping(module string) *profile.Mapping {
	if module == "" {
		return nil
	}
	m := t.mappings[module]
	if m == nil {
		m = &profile.Mapping{ID: uint64(len(t.out.Mapping) + 1), File: module, HasFunctions: true}
		t.out.Mapping = append(t.out.Mapping, m)
		t.mappings[module] = m
	}
	return m
}

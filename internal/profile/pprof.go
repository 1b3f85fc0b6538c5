package profile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/pprof/profile"

	"linerate/internal/hint"
)

// parsePprof reads the protocol buffers of pprof, one profile for each of
// their sample types, the default one first.
func parsePprof(data []byte) (found []*Profile, err error) {
	// The library trusts its input in places.
	defer func() {
		if r := recover(); r != nil {
			found, err = nil, errors.New("not a pprof profile: its tables contradict each other")
		}
	}()
	in, err := profile.ParseUncompressed(data)
	if err != nil {
		return nil, hint.With(fmt.Errorf("not a profile of a known format; as pprof: %w", err), "%s", known)
	}
	for i, t := range in.SampleType {
		p, err := pprofValues(in, i)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Type, err)
		}
		if len(p.Stacks) == 0 {
			continue
		}
		found = append(found, p)
		if t.Type == in.DefaultSampleType {
			copy(found[1:], found[:len(found)-1])
			found[0] = p
		}
	}
	if len(found) == 0 {
		return nil, errNoStacks
	}
	return found, nil
}

// pprofValues reads one sample type.
func pprofValues(in *profile.Profile, i int) (*Profile, error) {
	t := in.SampleType[i]
	unit := cmp.Or(t.Unit, t.Type)
	if unit == "count" {
		unit = "samples"
	}
	b := NewBuilder(t.Type, unit, "pprof")
	var frames []Frame
	for _, s := range in.Sample {
		frames = frames[:0]
		for l := len(s.Location) - 1; l >= 0 && len(frames) <= maxDepth; l-- {
			frames = append(frames, pprofFrames(s.Location[l])...)
		}
		if err := b.Add(frames, s.Value[i]); err != nil {
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
		module = moduleName(l.Mapping.File)
	}
	if len(l.Line) == 0 {
		return []Frame{{fmt.Sprintf("0x%x", l.Address), module}}
	}
	var frames []Frame
	for i := len(l.Line) - 1; i >= 0; i-- {
		name := "[unknown]"
		if f := l.Line[i].Function; f != nil && f.Name != "" {
			name = f.Name
		}
		frames = append(frames, Frame{name, module})
	}
	return frames
}

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

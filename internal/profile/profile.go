// Package profile handles CPU profiles: it builds pprof profiles from stacks, reads them
// back, draws flame graphs, and compares two profiles.
package profile

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"

	"github.com/google/pprof/profile"

	"linerate/internal/list"
	"linerate/internal/show"
)

// Limits on untrusted profiles: larger ones do not come from a host.
const (
	maxBytes = 256 << 20 // of one file, decompressed
	maxDepth = 2048      // frames of one stack
)

// Profile is a pprof profile with one sample type.
type Profile = profile.Profile

// Frame is a function on a stack. Module is its kernel, kernel module, library or program; empty if
// the profiler did not say.
type Frame struct{ Name, Module string }

// Builder collects stacks into a profile.
type Builder struct {
	p         *Profile
	locations map[Frame]*profile.Location
	mappings  map[string]*profile.Mapping
	samples   map[string]*profile.Sample
}

// NewBuilder returns a builder for the profile of an event, in a unit.
func NewBuilder(event, unit string) *Builder {
	t := &profile.ValueType{Type: event, Unit: unit}
	return &Builder{&Profile{SampleType: []*profile.ValueType{t}, PeriodType: t, Period: 1},
		map[Frame]*profile.Location{}, map[string]*profile.Mapping{"": nil}, map[string]*profile.Sample{}}
}

// Add adds a stack, outermost caller first.
func (b *Builder) Add(frames []Frame, value int64) {
	if value <= 0 || len(frames) == 0 {
		return
	}
	key := fmt.Sprintf("%q", frames)
	s := b.samples[key]
	if s == nil {
		s = &profile.Sample{Value: []int64{0}}
		for i := len(frames) - 1; i >= 0; i-- {
			s.Location = append(s.Location, b.location(frames[i]))
		}
		b.samples[key], b.p.Sample = s, append(b.p.Sample, s)
	}
	s.Value[0] += value
}

func (b *Builder) location(f Frame) *profile.Location {
	l := b.locations[f]
	if l == nil {
		m, known := b.mappings[f.Module]
		if !known {
			m = &profile.Mapping{ID: uint64(len(b.p.Mapping) + 1), File: f.Module, HasFunctions: true}
			b.mappings[f.Module], b.p.Mapping = m, append(b.p.Mapping, m)
		}
		fn := &profile.Function{ID: uint64(len(b.p.Function) + 1), Name: f.Name, SystemName: f.Name}
		l = &profile.Location{ID: fn.ID, Mapping: m, Line: []profile.Line{{Function: fn}}}
		b.locations[f], b.p.Function, b.p.Location = l, append(b.p.Function, fn), append(b.p.Location, l)
	}
	return l
}

// Profile returns the profile of the collected stacks.
func (b *Builder) Profile() *Profile { return b.p }

// Through returns the part of a profile whose stacks contain one of the functions; nil if none
// does.
func Through(p *Profile, names []string) *Profile {
	own := p.Copy()
	if found, _, _, _ := own.FilterSamplesByName(regexp.MustCompile("^("+strings.Join(list.Map(names, regexp.QuoteMeta), "|")+")$"), nil, nil, nil); !found {
		return nil
	}
	return own
}

// Total returns the sum of all samples.
func Total(p *Profile) (sum int64) {
	for _, s := range p.Sample {
		sum += s.Value[0]
	}
	return sum
}

// framesOf returns a sample's functions, outermost caller first.
func framesOf(s *profile.Sample) (out []Frame) {
	for i := len(s.Location) - 1; i >= 0; i-- {
		l, module := s.Location[i], ""
		if l.Mapping != nil {
			module = l.Mapping.File
		}
		if len(l.Line) == 0 {
			out = append(out, Frame{fmt.Sprintf("0x%x", l.Address), module})
		}
		for j := len(l.Line) - 1; j >= 0; j-- {
			name := "[unknown]"
			if f := l.Line[j].Function; f != nil && f.Name != "" {
				name = f.Name
			}
			out = append(out, Frame{name, module})
		}
	}
	return out
}

// Read parses an untrusted profile file.
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
	p, err = profile.ParseUncompressed(data)
	if err != nil || len(p.SampleType) == 0 {
		return nil, errors.Join(errors.New("not a pprof profile"), err)
	}
	total := int64(0)
	for _, s := range p.Sample {
		switch {
		case s.Value[0] < 0 || total > math.MaxInt64-s.Value[0]:
			return nil, errors.New("a profile's weights are below 0, or beyond 2^63 together")
		case len(framesOf(s)) > maxDepth:
			return nil, fmt.Errorf("a stack of more than %d frames", maxDepth)
		}
		total += s.Value[0]
	}
	return p, nil
}

// Mover is a function's self time before and after, in percent of each profile's total, so that
// profiles of unequal length can be compared.
type Mover struct {
	Name          string
	Before, After float64
}

// Movers compares two profiles function by function, largest change of self time first; it omits
// changes too small to print.
func Movers(before, after *Profile) (all []Mover) {
	a, b := selves(before), selves(after)
	for name := range a {
		if _, both := b[name]; !both {
			b[name] = 0
		}
	}
	for name, share := range b {
		if math.Abs(share-a[name]) >= 0.005 {
			all = append(all, Mover{name, a[name], share})
		}
	}
	list.Sort(all, func(x, y Mover) int {
		return cmp.Or(cmp.Compare(math.Abs(y.After-y.Before), math.Abs(x.After-x.Before)), cmp.Compare(x.Name, y.Name))
	})
	return all
}

// selves returns the self time of each function, in percent.
func selves(p *Profile) map[string]float64 {
	out, total := map[string]float64{}, float64(max(1, Total(p)))
	for _, s := range p.Sample {
		if frames := framesOf(s); len(frames) > 0 {
			out[frames[len(frames)-1].Name] += 100 * float64(s.Value[0]) / total
		}
	}
	return out
}

// HeaviestSentence says which function has the largest self time.
func HeaviestSentence(p *Profile) string {
	all := Movers(&Profile{}, p)
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("The heaviest function itself is %s, with %s.", show.Clean(all[0].Name), show.Percent(all[0].After))
}

// Package profile holds where time went: stacks and how often each was seen,
// read from what profilers print (pmcstat, dtrace, perf, folded stacks, pprof),
// written as pprof, drawn as flame graphs, and compared.
//
// A profile is a value. Whoever measures one or reads it from a file hands it over whole.
package profile

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/show"
)

// Limits of what is read from outside: a profile larger than these is no
// profile of a host.
const (
	MaxBytes  = 256 << 20 // of one file, decompressed
	maxDepth  = 2048      // frames of one stack
	maxFrames = 32 << 20  // frames of all distinct stacks
	maxName   = 4096      // bytes of a function's name
)

// Frame is a function on a stack.
type Frame struct {
	Name string `json:"name"`
	// Module is the kernel, kernel module, library or program that the
	// function is in; empty where the profiler did not say.
	Module string `json:"module,omitempty"`
}

// Stack is a chain of calls, outermost caller first, with its weight in the
// profile's unit.
type Stack struct {
	Frames []Frame
	Value  int64
}

// Profile is what one event's samples saw.
type Profile struct {
	// Event that samples were taken on: "cpu-clock", "BU_CPU_CLK_UNHALTED";
	// empty where the format does not say.
	Event string
	// Unit of the stacks' values: "samples", "nanoseconds" or the event.
	Unit string
	// Format that it was read from, in words.
	Format string
	// Samples taken; 0 where only their weight is known.
	Samples int64
	// Stacks are distinct.
	Stacks []Stack
	// Notes say what the reader of the profile should know of it: parts
	// that are missing, numbers that do not add up.
	Notes []string
}

// Total is the weight of all stacks.
func (p *Profile) Total() int64 {
	var sum int64
	for _, s := range p.Stacks {
		sum += s.Value
	}
	return sum
}

// Builder collects stacks into a profile and refuses what is beyond measure.
type Builder struct {
	p      Profile
	index  map[string]int
	names  map[string]string
	key    []byte
	frames int
	total  int64
}

// NewBuilder begins a profile of an event, in a unit.
func NewBuilder(event, unit, format string) *Builder {
	return &Builder{p: Profile{Event: event, Unit: unit, Format: format}, index: map[string]int{}, names: map[string]string{}}
}

var errTooMuch = errors.New("the weights of all stacks together are beyond 2^63")

// Add counts a stack, outermost caller first; frames is copied. A weight of
// zero adds nothing, a negative one is an error.
func (b *Builder) Add(frames []Frame, value int64) error {
	switch {
	case value < 0:
		return errors.New("a negative weight: this is a difference of profiles, not a profile")
	case value == 0 || len(frames) == 0:
		return nil
	case len(frames) > maxDepth:
		return hint.Usagef("a stack of more than %d frames", maxDepth)
	case b.total > math.MaxInt64-value:
		return errTooMuch
	}
	b.total += value
	b.key = b.key[:0]
	for _, f := range frames {
		b.key = append(append(append(append(b.key, f.Name...), 0), f.Module...), 0)
	}
	if i, ok := b.index[string(b.key)]; ok {
		b.p.Stacks[i].Value += value
		return nil
	}
	if b.frames += len(frames); b.frames > maxFrames {
		return hint.Usagef("more than %d frames in all distinct stacks", maxFrames)
	}
	own := make([]Frame, len(frames))
	for i, f := range frames {
		own[i] = Frame{b.intern(f.Name), b.intern(f.Module)}
	}
	b.index[string(b.key)] = len(b.p.Stacks)
	b.p.Stacks = append(b.p.Stacks, Stack{own, value})
	return nil
}

// Sampled counts samples, where they are not the weight itself.
func (b *Builder) Sampled(n int64) { b.p.Samples += n }

// Note adds a remark, once.
func (b *Builder) Note(text string) {
	if !slices.Contains(b.p.Notes, text) {
		b.p.Notes = append(b.p.Notes, text)
	}
}

// intern keeps one copy of a name, without the input it was cut from.
func (b *Builder) intern(name string) string {
	if len(name) > maxName {
		name = name[:maxName]
	}
	if own, ok := b.names[name]; ok {
		return own
	}
	own := strings.Clone(strings.ToValidUTF8(name, "?"))
	b.names[own] = own
	return own
}

// Profile returns what was collected; the builder is used up.
func (b *Builder) Profile() *Profile {
	p := b.p
	if p.Samples == 0 && p.Unit == "samples" {
		p.Samples = p.Total()
	}
	if note := p.cutStacks(); note != "" && !slices.Contains(p.Notes, note) {
		p.Notes = append(p.Notes, note)
	}
	return &p
}

// Through is the part of the profile whose stacks hold one of these functions; nil where
// none does.
func (p *Profile) Through(names []string) *Profile {
	own := *p
	own.Stacks = list.Filter(p.Stacks, func(s Stack) bool {
		return slices.ContainsFunc(s.Frames, func(f Frame) bool { return slices.Contains(names, f.Name) })
	})
	switch len(own.Stacks) {
	case 0:
		return nil
	case len(p.Stacks):
	default:
		own.Samples = 0
	}
	cut := p.cutStacks() // said anew of what is left
	own.Notes = slices.DeleteFunc(slices.Clone(p.Notes), func(n string) bool { return n == cut })
	return (&Builder{p: own}).Profile()
}

// depthLimits are how deep profilers look by default: hwpmc's
// kern.hwpmc.callchaindepth, its older and larger values, and Linux's
// kernel.perf_event_max_stack, which perf's task name comes on top of.
var depthLimits = []int{8, 16, 32, 64, 127, 128}

// cutStacks tells that stacks end at a limit of the profiler. Their outer
// callers are missing, and one function stands at several places of a picture.
func (p *Profile) cutStacks() string {
	deepest, there := 0, int64(0)
	for _, s := range p.Stacks {
		switch {
		case len(s.Frames) > deepest:
			deepest, there = len(s.Frames), s.Value
		case len(s.Frames) == deepest:
			there += s.Value
		}
	}
	part := percentOf(there, float64(p.Total()))
	if !slices.Contains(depthLimits, deepest) || part < 5 {
		return ""
	}
	return fmt.Sprintf("Stacks of %s are %d frames deep, which is where the profiler stopped, it seems: their outer callers are missing (FreeBSD's limit is kern.hwpmc.callchaindepth, Linux's kernel.perf_event_max_stack).", show.Percent(part), deepest)
}

// frameOf reads a frame as profilers print them in one word: dtrace's
// module`function+0x1c, the [k] that folded stacks of perf carry.
func frameOf(text string) Frame {
	f := Frame{Name: text}
	if module, name, ok := strings.Cut(text, "`"); ok && name != "" {
		f.Module, f.Name = path.Base(module), name
	}
	for suffix, module := range map[string]string{"_[k]": "[kernel]", "_[j]": "[jit]", "_[i]": ""} {
		if name, ok := strings.CutSuffix(f.Name, suffix); ok && name != "" {
			f.Name, f.Module = name, cmp.Or(f.Module, module)
			break
		}
	}
	f.Name = withoutOffset(f.Name)
	return f
}

// withoutOffset cuts the "+0x1c" that says where in a function it was.
func withoutOffset(name string) string {
	if i := strings.LastIndex(name, "+0x"); i > 0 && hexOnly(name[i+3:]) {
		return name[:i]
	}
	return name
}

func hexOnly(s string) bool { return s != "" && strings.Trim(s, "0123456789abcdefABCDEF") == "" }

// Weight is what a function has of a profile.
type Weight struct {
	Frame
	// Self is the weight of stacks that end in the function; Total that of
	// stacks it is on, once each however often it recurs there.
	Self, Total int64
}

// Functions weighs every function by its name, the heaviest themselves first.
func (p *Profile) Functions() []Weight {
	index := map[string]int{}
	var all []Weight
	lastSeen := []int{}
	for i, s := range p.Stacks {
		for d, f := range s.Frames {
			k, ok := index[f.Name]
			if !ok {
				k = len(all)
				index[f.Name] = k
				all, lastSeen = append(all, Weight{Frame: f}), append(lastSeen, -1)
			}
			if lastSeen[k] != i {
				lastSeen[k] = i
				all[k].Total += s.Value
			}
			if d == len(s.Frames)-1 {
				all[k].Self += s.Value
			}
		}
	}
	slices.SortFunc(all, func(a, b Weight) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// Package profile holds where time went: stacks and how often each was seen. It
// writes and reads pprof's files, draws flame graphs, and compares profiles.
//
// A profile is a value. Whoever measures one hands it over whole.
package profile

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"linerate/internal/list"
)

// Limits of what is read from outside: a profile larger than these is no
// profile of a host.
const (
	maxBytes  = 256 << 20 // of one file, decompressed
	maxDepth  = 2048      // frames of one stack
	maxFrames = 32 << 20  // frames of all distinct stacks
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
	// Event that samples were taken on: "cpu-clock".
	Event string
	// Unit of the stacks' values: "samples", "nanoseconds" or the event.
	Unit string
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
	frames int
	total  int64
}

// NewBuilder begins a profile of an event, in a unit.
func NewBuilder(event, unit string) *Builder {
	return &Builder{p: Profile{Event: event, Unit: unit}, index: map[string]int{}}
}

// Add counts a stack, outermost caller first; frames is copied. A weight of
// zero adds nothing, a negative one is an error.
func (b *Builder) Add(frames []Frame, value int64) error {
	switch {
	case value < 0:
		return errors.New("a negative weight: this is a difference of profiles, not a profile")
	case value == 0 || len(frames) == 0:
		return nil
	case len(frames) > maxDepth:
		return fmt.Errorf("a stack of more than %d frames", maxDepth)
	case b.total > math.MaxInt64-value:
		return errors.New("the weights of all stacks together are beyond 2^63")
	}
	b.total += value
	var key strings.Builder
	for _, f := range frames {
		key.WriteString(f.Name + "\x00" + f.Module + "\x00")
	}
	if i, ok := b.index[key.String()]; ok {
		b.p.Stacks[i].Value += value
		return nil
	}
	if b.frames += len(frames); b.frames > maxFrames {
		return fmt.Errorf("more than %d frames in all distinct stacks", maxFrames)
	}
	b.index[key.String()] = len(b.p.Stacks)
	b.p.Stacks = append(b.p.Stacks, Stack{slices.Clone(frames), value})
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

// Profile returns what was collected; the builder is used up.
func (b *Builder) Profile() *Profile {
	p := b.p
	if p.Samples == 0 && p.Unit == "samples" {
		p.Samples = p.Total()
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
	own.Notes = slices.Clone(p.Notes)
	return (&Builder{p: own}).Profile()
}

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

package profile

import (
	"slices"

	"linerate/internal/hint"
)

// Choice narrows a profile to what is asked about.
type Choice struct {
	// Only keeps stacks that hold one of these functions; empty: all.
	Only []string
	// Without drops stacks that hold one of these, as the idle loop's.
	Without []string
	// From cuts the callers of this function off, so that stacks of which
	// the profiler saw more or less begin at the same place.
	From string
}

// Choose returns the part of a profile that a choice keeps. A function that
// the profile has not is an error, unless absent ones are allowed: of two
// profiles one may not have it.
func (p *Profile) Choose(c Choice, allowAbsent bool) (*Profile, error) {
	if !allowAbsent {
		if err := p.has(append(slices.Concat(c.Only, c.Without), c.From)); err != nil {
			return nil, err
		}
	}
	b := NewBuilder(p.Event, p.Unit, p.Format)
	cut := p.cutStacks() // said anew of what is left
	b.p.Notes = slices.DeleteFunc(slices.Clone(p.Notes), func(n string) bool { return n == cut })
	whole := true
	for _, s := range p.Stacks {
		if len(c.Only) > 0 && !holds(s, c.Only) || holds(s, c.Without) {
			whole = false
			continue
		}
		frames := s.Frames
		if c.From != "" {
			i := slices.IndexFunc(frames, func(f Frame) bool { return f.Name == c.From })
			frames = frames[max(i, 0):]
		}
		if err := b.Add(frames, s.Value); err != nil {
			return nil, err
		}
	}
	if whole {
		b.p.Samples = p.Samples
	}
	out := b.Profile()
	if len(out.Stacks) == 0 {
		return nil, hint.Usagef("no stack is left of this choice")
	}
	return out, nil
}

func holds(s Stack, names []string) bool {
	return slices.ContainsFunc(s.Frames, func(f Frame) bool { return slices.Contains(names, f.Name) })
}

// has refuses names of functions that the profile has not.
func (p *Profile) has(names []string) error {
	known := map[string]bool{"": true}
	for _, s := range p.Stacks {
		for _, f := range s.Frames {
			known[f.Name] = true
		}
	}
	for _, n := range names {
		if known[n] {
			continue
		}
		all := make([]string, 0, len(known))
		for k := range known {
			all = append(all, k)
		}
		slices.Sort(all)
		return hint.Unknown("function", n, all)
	}
	return nil
}

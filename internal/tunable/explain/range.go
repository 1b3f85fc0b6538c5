package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact/release"
	"linerate/internal/tunable"
)

// bounds describes the accepted values.
func bounds(s tunable.State, x tunable.Range) string {
	k := s.Constraints
	var parts []string
	switch {
	case len(k.Values) > 0:
		parts = append(parts, choices(k))
	case x.Entire && s.Type != tunable.Bool:
		parts = append(parts, "the whole range of the type")
	case x.Domain == tunable.Whole && s.Type != tunable.Bool:
		parts = append(parts, fmt.Sprintf("%s to %s", x.Least, x.Most))
	case x.Domain == tunable.Vectors && x.Least != nil && x.Most != nil:
		parts = append(parts, fmt.Sprintf("each %s to %s", x.Least, x.Most))
	case x.Domain == tunable.Vectors && x.Least != nil:
		parts = append(parts, fmt.Sprintf("each %s or more", x.Least))
	case x.Domain == tunable.Switch:
		parts = append(parts, "YES or NO")
	}
	if len(k.Values) == 0 && len(k.Meaning) > 0 {
		parts = append(parts, meanings(k))
	}
	if k.Count > 0 {
		parts = append(parts, fmt.Sprintf("%d numbers, %s", k.Count, map[bool]string{true: "stored all or none", false: "stored one by one: fewer leave the others as they are"}[k.Together]))
	}
	if k.Mask {
		parts = append(parts, "bits")
	}
	if k.Jiffies {
		parts = append(parts, "kept in timer ticks, at most 2147483647 of them")
	}
	if k.PowerOfTwo {
		parts = append(parts, map[bool]string{true: "rounded up to a power of two", false: "a power of two"}[k.RoundedUp])
	}
	if k.OnlyRaise {
		parts = append(parts, "can only be raised while running")
	}
	if k.Multiple > 0 {
		parts = append(parts, "a multiple of "+strconv.FormatFloat(k.Multiple, 'f', -1, 64))
	}
	if k.Depends != "" {
		parts = append(parts, k.Depends)
	}
	return strings.Join(parts, ", ")
}

// meanings explains special numbers of a setting that accepts others too.
func meanings(k tunable.Constraints) string {
	all := slices.SortedFunc(maps.Keys(k.Meaning), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	for i, v := range all {
		all[i] = v + " " + k.Meaning[v]
	}
	return strings.Join(all, ", ")
}

func choices(k tunable.Constraints) string {
	all := slices.Clone(k.Values)
	for i, v := range all {
		if m := k.Meaning[v]; m != "" {
			all[i] = v + " " + m
		}
	}
	return strings.Join(all, ", ")
}

// beyond describes the treatment of other values: those outside the bounds, and numbers that the
// type cannot hold.
func beyond(r *tunable.Record, s tunable.State, rel release.Release) string {
	x := r.RangeOn(rel)
	if x.Domain == tunable.Text || x.Domain == tunable.Presence || x.Outside == "" {
		return ""
	}
	text := "another value " + told("outside", x.Outside)
	if x.Entire {
		text = "a number that does not fit " + told("outside", x.Outside)
	}
	if x.Outside == tunable.Refused {
		text += told("refusal", s.Mechanism)
	}
	if x.Beyond != "" && x.Beyond != x.Outside && s.Type != tunable.Bool {
		text += fmt.Sprintf("; what does not fit %s %s", s.Type, told("outside", x.Beyond))
	}
	return text
}

// becoming describes the treatment of one value.
func becoming(p *tunable.ValueProblem, value string) string {
	switch {
	case told("outside", p.Outside) == "":
		return ""
	case p.Kept > 0:
		return fmt.Sprintf("; it %s, and what precedes it (%s) is stored", told("outside", p.Outside), strings.Join(strings.Fields(value)[:p.Kept], " "))
	}
	return "; it " + told("outside", p.Outside)
}

// governs describes the scope of the requested name: on Linux conf.all and conf.default are not
// those of one device.
func governs(r *tunable.Record, asked string, s tunable.State) string {
	name := r.InstanceOf(asked)
	switch {
	case r.OS != tunable.Linux || s.Scope != tunable.Device || name == r.Name:
		return told("scope", s.Scope)
	case strings.Contains(name, ".conf.all."):
		return "one network namespace"
	case strings.Contains(name, ".conf.default."):
		return "one network namespace: devices that appear later begin with it"
	case strings.Contains(name, ".neigh.default."):
		return "the machine: it is in the first network namespace alone; tables of devices that appear later begin with it"
	}
	return told("scope", s.Scope)
}

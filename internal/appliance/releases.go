package appliance

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact/release"
	"linerate/internal/list"
)

// ReleaseOf returns the record of a release: the one with the longest matching prefix in the table.
func (p *Product) ReleaseOf(version string) (Release, bool) {
	best := Release{}
	for _, r := range p.Releases {
		if (version == r.Release || strings.HasPrefix(version, r.Release+".") || strings.HasPrefix(version, r.Release+"-") || strings.HasPrefix(version, r.Release+"_")) && len(r.Release) > len(best.Release) {
			best = r
		}
	}
	return best, best.Release != ""
}

// Judged returns the record of a release, or the nearest in the table: the newest before it, or
// else the oldest. near means that it is that of another release; ok is false if the text is not a
// release.
func (p *Product) Judged(version string) (r Release, near, ok bool) {
	if r, ok := p.ReleaseOf(version); ok {
		return r, false, true
	}
	want := numbers(version)
	if len(want) == 0 || len(p.Releases) == 0 {
		return Release{}, false, false
	}
	byAge := slices.Clone(p.Releases)
	list.Sort(byAge, func(a, b Release) int { return slices.Compare(numbers(a.Release), numbers(b.Release)) })
	r = byAge[0]
	for _, known := range byAge {
		if slices.Compare(numbers(known.Release), want) <= 0 {
			r = known
		}
	}
	return r, true, true
}

// numbers returns the numbers in a release: 24, 7, 12 for "24.7.12".
func numbers(version string) []int {
	var all []int
	for _, part := range strings.FieldsFunc(version, func(c rune) bool { return c < '0' || c > '9' }) {
		n, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		all = append(all, n)
	}
	return all
}

// ReleaseByConfig returns the record of the release that writes a configuration with a number, or
// of the newest one that writes a lower number; near means the latter.
func (p *Product) ReleaseByConfig(number string) (best Release, near, ok bool) {
	want := numbers(number)
	for _, r := range p.Releases {
		if r.Config == number && number != "" {
			return r, false, true
		}
		if have := numbers(r.Config); len(want) > 0 && len(have) > 0 && slices.Compare(have, want) < 0 && slices.Compare(have, numbers(best.Config)) > 0 {
			best, ok = r, true
		}
	}
	return best, true, ok
}

// BaseRelease returns the release of the underlying system.
func (r Release) BaseRelease() release.Release {
	b, err := release.ParseGiven(r.Base)
	if err != nil {
		return release.Release{}
	}
	return b
}

// Speaks reports whether a release is the product's own, as opposed to the underlying system's: it
// is in the table, or its major number is one that the product's releases have or will have and the
// system's do not.
func (p *Product) Speaks(r release.Release) bool {
	own, beneath := []int{}, []int{}
	for _, known := range p.Releases {
		b := known.BaseRelease()
		if b.Major == r.Major && b.Minor == r.Minor {
			return false
		}
		own, beneath = append(own, numbers(known.Release)[0]), append(beneath, b.Major)
	}
	if r.IsZero() || len(own) == 0 {
		return false
	}
	if _, ok := p.ReleaseOf(r.String()); ok {
		return true
	}
	return r.Major >= slices.Min(own) && r.Major <= slices.Max(own)+later && (r.Major < slices.Min(beneath) || r.Major > slices.Max(beneath)+1)
}

// later is how far a release not yet in the table may be after the newest one there.
const later = 5

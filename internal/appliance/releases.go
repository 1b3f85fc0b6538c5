package appliance

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact/release"
)

// ReleaseOf is the record of a release: that of the longest part of it which
// the table has.
func (p *Product) ReleaseOf(version string) (Release, bool) {
	best := Release{}
	for _, r := range p.Releases {
		if (version == r.Release || strings.HasPrefix(version, r.Release+".") || strings.HasPrefix(version, r.Release+"-") || strings.HasPrefix(version, r.Release+"_")) && len(r.Release) > len(best.Release) {
			best = r
		}
	}
	return best, best.Release != ""
}

// Judged is the record of a release, or of the nearest that the table has: the newest
// before it, or the oldest of all. near: it is another one's; false in ok of a text that is no
// release.
func (p *Product) Judged(version string) (r Release, near, ok bool) {
	if r, ok := p.ReleaseOf(version); ok {
		return r, false, true
	}
	want := numbers(version)
	if len(want) == 0 || len(p.Releases) == 0 {
		return Release{}, false, false
	}
	byAge := slices.SortedFunc(slices.Values(p.Releases), func(a, b Release) int { return slices.Compare(numbers(a.Release), numbers(b.Release)) })
	r = byAge[0]
	for _, known := range byAge {
		if slices.Compare(numbers(known.Release), want) <= 0 {
			r = known
		}
	}
	return r, true, true
}

// numbers are those of a release: 24, 7, 12 of "24.7.12".
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

// ReleaseByConfig is the record of the release that writes a configuration of a number, or
// of the newest that writes a lower one; near: it is another one's.
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

// BaseRelease is the release of the system beneath.
func (r Release) BaseRelease() release.Release {
	b, err := release.ParseGiven(r.Base)
	if err != nil {
		return release.Release{}
	}
	return b
}

// Speaks reports a release that is the product's number, as opposed to that of the system
// beneath: one of its table, or one whose first number its releases have or will have and
// the system's have not.
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

// later is how far behind the newest release of a table one may be that is not there yet.
const later = 5

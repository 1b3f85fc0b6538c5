package tunable

import "linerate/internal/fact/release"

// Known returns the first release of the oldest major version, and the newest release, that a
// system's records distinguish: statements about releases outside that range would be guesses. The
// release of an old removal does not count as oldest.
func (c *Catalogue) Known(os string) (oldest, newest release.Release) {
	if c.spans != nil {
		if span, ok := c.spans.Load(os); ok {
			return span.([2]release.Release)[0], span.([2]release.Release)[1]
		}
		defer func() { c.spans.Store(os, [2]release.Release{oldest, newest}) }()
	}
	for _, r := range c.Records {
		if r.OS != os {
			continue
		}
		for _, x := range r.releases() {
			if !x.IsZero() && (oldest.IsZero() || x.Major < oldest.Major) {
				oldest = release.Release{Major: x.Major}
			}
			newest = later(newest, x)
		}
		newest = later(newest, r.Removed)
	}
	return oldest, newest
}

// developed maps a system to its release in development; hosts that run it say so.
var developed = map[string]release.Release{FreeBSD: {Major: 16}}

// out reports whether a release is one that a host without a stated release may run; a zero release is not.
func (r *Record) out(x release.Release) bool {
	next, ok := developed[r.OS]
	return !x.IsZero() && (!ok || x.Before(next))
}

// Beyond returns the newest release that the records of a system distinguish, if r is newer still;
// for such a host the catalogue uses that release.
func (c *Catalogue) Beyond(os string, r release.Release) (newest release.Release, yes bool) {
	_, newest = c.Known(os)
	return newest, !r.IsZero() && !newest.IsZero() && newest.Before(r)
}

// releases returns the releases that a record distinguishes, including zero ones.
func (r *Record) releases() []release.Release {
	all := []release.Release{r.Since}
	for _, c := range r.Changes {
		all = append(all, c.From, c.Until)
	}
	for _, c := range r.Checked {
		all = append(all, c.Release)
	}
	return all
}

func later(a, b release.Release) release.Release {
	if a.Before(b) {
		return b
	}
	return a
}

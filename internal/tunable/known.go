package tunable

import "linerate/internal/fact/release"

// Known is the first release of the oldest major version, and the newest
// release, that a system's records tell apart: a statement about one outside of
// them would be a guess. A tunable that was removed long ago says nothing of
// what was there besides.
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

// developed is the release of each system that is not out yet: who runs it says so.
var developed = map[string]release.Release{FreeBSD: {Major: 16}}

// out reports whether a release is one that hosts run which do not say theirs; none is not.
func (r *Record) out(x release.Release) bool {
	next, ok := developed[r.OS]
	return !x.IsZero() && (!ok || x.Before(next))
}

// Beyond is the newest release that the records of a system tell apart, where r
// is newer still; of such a host the catalogue tells what it knows of Beyond.
func (c *Catalogue) Beyond(os string, r release.Release) (newest release.Release, yes bool) {
	_, newest = c.Known(os)
	return newest, !r.IsZero() && !newest.IsZero() && newest.Before(r)
}

// releases are those that a record tells from others, zero ones among them.
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

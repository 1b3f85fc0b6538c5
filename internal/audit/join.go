package audit

import (
	"slices"
	"strings"
)

// Join combines reports on files that were audited separately, as for unrelated hosts. It leaves
// fields empty in which they differ.
func Join(reports []*Report) *Report {
	out := &Report{Version: Version, Findings: []Finding{}, Suppressed: []Suppressed{}, Stale: []StaleSuppression{}, Unread: []Unread{},
		RoleReasons: []string{}, Coverage: Coverage{Unjudged: []Unjudged{}}}
	stale := map[StaleSuppression]int{}
	for i, r := range reports {
		if i == 0 {
			out.OS, out.Release, out.Role, out.RoleReasons = r.OS, r.Release, r.Role, r.RoleReasons
		}
		out.OS, out.Release = common(out.OS, r.OS), common(out.Release, r.Release)
		if out.Role = common(out.Role, r.Role); out.Role == "" {
			out.RoleReasons = []string{"each file has its own"}
		}
		for _, f := range r.Files {
			f.Errors, f.Warnings, f.Info = r.Count(Error), r.Count(Warning)-r.Count(Error), r.Count(Info)-r.Count(Warning)
			out.Files = append(out.Files, f)
		}
		out.Lines += r.Lines
		out.Quiet += r.Quiet
		out.Coverage.add(r.Coverage)
		for _, f := range r.Findings {
			out.Findings = append(out.Findings, f.in())
		}
		for _, s := range r.Suppressed {
			s.Finding = s.in()
			out.Suppressed = append(out.Suppressed, s)
		}
		out.Unread = append(out.Unread, r.Unread...)
		out.Unlisted = sum(out.Unlisted, r.Unlisted)
		out.Hidden += r.Hidden
		for _, s := range r.Stale {
			stale[s]++
		}
	}
	for _, r := range reports { // a suppression is stale if it had no effect in any file
		for _, s := range r.Stale {
			if stale[s] == len(reports) && !slices.Contains(out.Stale, s) {
				out.Stale = append(out.Stale, s)
			}
		}
	}
	order(out.Findings)
	return out
}

// in returns the finding with its file in the id, whatever other files there are.
func (f Finding) in() Finding {
	if f.File != "" && !strings.HasSuffix(f.ID, "@"+f.File) {
		f.ID += "@" + f.File
	}
	return f
}

// common returns a if both are equal, else "".
func common(a, b string) string {
	if a != b {
		return ""
	}
	return a
}

// sum adds the counts of b to a, which may be nil.
func sum[K comparable](a, b map[K]int) map[K]int {
	if len(b) > 0 && a == nil {
		a = map[K]int{}
	}
	for s, n := range b {
		a[s] += n
	}
	return a
}

// add adds the settings of another host.
func (v *Coverage) add(o Coverage) {
	v.Set += o.Set
	v.SetKnown += o.SetKnown
	v.Running += o.Running
	v.RunningKnown += o.RunningKnown
	v.Unjudged = append(v.Unjudged, o.Unjudged...)
	v.Unlisted = sum(v.Unlisted, o.Unlisted)
	v.NewestKnown = max(v.NewestKnown, o.NewestKnown)
}

package report

import (
	"strings"

	"linerate/internal/show"
	"linerate/internal/study"
)

// lacking are variants that cannot be had for one reason.
type lacking struct{ Variants, Are, Reason string }

// lackings groups the variants that cannot be had by why: the setting that
// failed leads a reason, and may be another for each.
func lackings(r study.Results) (out []lacking) {
	var order []string
	groups := map[string][]study.Unavailable{}
	for _, u := range r.Unavailable {
		why := u.Reason
		if setting, rest, ok := strings.Cut(u.Reason, ": "); ok && !strings.ContainsAny(setting, "([") {
			why = rest
		}
		if groups[why] == nil {
			order = append(order, why)
		}
		groups[why] = append(groups[why], u)
	}
	for _, why := range order {
		g := groups[why]
		l := lacking{Variants: g[0].Variant, Are: "is", Reason: g[0].Reason}
		if len(g) > 1 {
			var names []string
			for _, u := range g {
				names = append(names, u.Variant)
				if u.Reason != l.Reason {
					l.Reason = why
				}
			}
			l.Variants, l.Are = show.List(names), "are"
		}
		out = append(out, l)
	}
	return out
}

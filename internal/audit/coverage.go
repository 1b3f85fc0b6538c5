package audit

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/show"
	"linerate/internal/tunable"
)

// Coverage is how much of a host the catalogue knows, and so what the absence of findings is worth.
type Coverage struct {
	// Set counts the names set in the host's files, SetKnown those in the catalogue.
	Set      int `json:"set"`
	SetKnown int `json:"set_known"`
	// Running counts the names whose running value was read, RunningKnown those in the catalogue.
	Running      int `json:"running"`
	RunningKnown int `json:"running_known"`
	// Unjudged lists the names set in files that could not be judged, or only in part, sorted by
	// name.
	Unjudged []Unjudged `json:"unjudged"`
	// Unlisted counts names beyond the limits of a report, by the reason why they could not be
	// judged.
	Unlisted map[string]int `json:"unjudged_unlisted,omitempty"`
	// NewestKnown is the newest release that the catalogue knows, if the host's is newer.
	NewestKnown string `json:"newest_known,omitempty"`
	// Shipped is the distribution whose kernel is assumed, if the host's files do not name a
	// kernel.
	Shipped string `json:"shipped,omitempty"`

	reasons map[string]int
	filter  bool // rules of a packet filter were read
}

// filterRules lists the packet filter files that are checked for mistakes.
var filterRules = []string{"/etc/nftables.conf", "/etc/iptables/rules.v4", "/etc/pf.conf"}

// Unjudged is a name that could not be judged.
type Unjudged struct {
	Name string `json:"name"`
	// Why says what was missing: a record, or a fact of the host.
	Why string `json:"why"`
}

// coverage counts how many of the host's settings the catalogue knows.
func (a *auditor) coverage() Coverage {
	v := Coverage{Unjudged: []Unjudged{}, Shipped: a.f.From.Shipped}
	if newest, yes := a.c.Beyond(a.f.OS, a.f.Release); yes {
		v.NewestKnown = newest.Short()
	}
	v.filter = slices.ContainsFunc(a.f.Sources, func(s fact.Source) bool {
		return s.Status == fact.StatusRead && slices.Contains(filterRules, s.Name)
	})
	for _, s := range a.f.Settings {
		if s.Namespace == fact.Fields {
			continue
		}
		rec, known := a.c.Lookup(a.f.OS, s.Name)
		if s.Live != nil {
			v.Running++
			v.RunningKnown += count(known)
		}
		i := slices.IndexFunc(s.Lines, func(l fact.Line) bool { return !l.Default })
		if i < 0 || !known && (a.bootWord(s.Name) || strings.HasPrefix(s.Name, "hint.") || a.stock(s.Lines[i].Stage, s.Name)) {
			continue // set only by default, or not a tuning
		}
		v.Set++
		v.SetKnown += count(known)
		if why := a.unjudgedWhy(s, rec, known); why != "" {
			v.leave(clean(s.Name), why)
		}
	}
	return v
}

// unjudgedWhy returns why a name cannot be fully judged; "" if it can.
func (a *auditor) unjudgedWhy(s fact.Tunable, rec *tunable.Record, known bool) string {
	switch {
	case !known && s.Namespace == fact.RC:
		return "variables of rc.conf for scripts that the catalogue does not know"
	case !known:
		return "not in the catalogue"
	case rec.At(a.f.Release).IsFormula() && a.env.Unknown(rec.At(a.f.Release).Formula) && !a.decided(s, rec):
		return "its default is computed from what is not known of the host"
	}
	return ""
}

// leave adds a name that could not be judged, within the limits.
func (v *Coverage) leave(name, why string) {
	one := map[string]int{why: 1}
	if v.reasons = sum(v.reasons, one); v.reasons[why] <= maxNames {
		v.Unjudged = append(v.Unjudged, Unjudged{name, why})
		return
	}
	v.Unlisted = sum(v.Unlisted, one)
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// decided reports a number that is above, or below, what the kernel computes on any machine, so
// that the host's size does not matter.
func (a *auditor) decided(s fact.Tunable, rec *tunable.Record) bool {
	i := slices.IndexFunc(s.Lines, func(l fact.Line) bool { return l.Effective })
	if i < 0 {
		return false
	}
	rung, _, _, ok := a.overtaken(s.Lines[i].Value, rec)
	return ok && (rung == 0 || rung == rungs)
}

// wellAsItIs is the verdict on a host without findings if everything is known.
const wellAsItIs = "nothing to say; leave it as it is"

// verdict says what the absence of findings means. It says that a host is fine only if all settings
// in its files could be judged.
func (v Coverage) verdict() string {
	switch {
	case v.Set+v.Running == 0 && v.filter:
		return "no settings found; the packet filter's rules have none of the mistakes that linerate knows"
	case v.Set+v.Running == 0:
		return "no settings found; there was nothing to judge"
	case v.SetKnown+v.RunningKnown == 0:
		return "the catalogue knows none of this host's settings; it cannot judge them"
	case v.blind():
		return "the catalogue knows none of what the files set; it cannot judge that"
	case v.Set == 0:
		return fmt.Sprintf("no file sets anything; no finding among the %s running that the catalogue knows", show.Plural(v.RunningKnown, "value"))
	case len(v.Unjudged) > 0:
		return "no finding in what could be judged"
	}
	return wellAsItIs
}

// blind reports whether the catalogue knows none of the names set in files or, if there are none,
// of the running ones: then findings are not about tuning.
func (v Coverage) blind() bool { return v.SetKnown == 0 && (v.Set > 0 || v.RunningKnown == 0) }

// named is how many names a text lists before it counts the rest.
const named = 8

func (v Coverage) sentences() string {
	var parts []string
	if v.Set > 0 {
		parts = append(parts, fmt.Sprintf("files set %s, %s in the catalogue", show.Plural(v.Set, "name"), of(v.SetKnown, v.Set)))
	}
	if v.Running > 0 {
		parts = append(parts, fmt.Sprintf("%s running, %s in the catalogue", show.Plural(v.Running, "value"), of(v.RunningKnown, v.Running)))
	}
	text := strings.Join(parts, "; ")
	if text == "" {
		return ""
	}
	if v.NewestKnown != "" {
		text += "; the catalogue knows releases up to " + v.NewestKnown + " and judges this host as one of those"
	}
	if v.Shipped != "" {
		text += "; the release is that of the kernel which " + v.Shipped + " ships; a stated release counts before it"
	}
	return "coverage: " + text + "." + v.leftOut()
}

// leftOut lists what could not be judged, by reason.
func (v Coverage) leftOut() string {
	var reasons []string
	by := map[string][]string{}
	for _, u := range v.Unjudged {
		if by[u.Why] == nil {
			reasons = append(reasons, u.Why)
		}
		by[u.Why] = append(by[u.Why], u.Name)
	}
	var b strings.Builder
	for _, why := range reasons {
		list := by[why]
		more := ""
		if n := len(list) + v.Unlisted[why] - named; n > 0 {
			more = fmt.Sprintf(" and %s more", show.Count(n))
			list = list[:named]
		}
		fmt.Fprintf(&b, " Not judged (%s): %s%s.", why, strings.Join(list, ", "), more)
	}
	return b.String()
}

// of formats "n of all".
func of(n, all int) string {
	switch n {
	case 0:
		return "none"
	case all:
		return "all"
	}
	return show.Count(n)
}

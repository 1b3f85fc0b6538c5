package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"linerate/internal/audit"
	"linerate/internal/list"
	"linerate/internal/show"
)

// maxText bounds the text of a finding and of a change, in bytes.
const maxText = 400

// Compare returns the state of a host after an observation, and what changed. before is
// nil for a new host. Its Findings are needed only if the observation's set of findings
// differs, and only then does after have Findings.
func Compare(before *Host, o *Observation) (after Host, changes []Change) {
	after = Host{ID: ByName + o.Name, FirstSeen: o.Time}
	if before != nil {
		after = *before
		after.Findings = nil
	}
	if before == nil || o.Failure == "" {
		after.Name = o.Name
	}
	c := comparison{o: o, cause: ByHost}
	if before == nil || !before.Reached() {
		c.cause = ByBaseline
	}
	if o.Failure != "" {
		after.Reason = shorten(o.Failure)
		if after.UnreachableSince.IsZero() {
			after.UnreachableSince = o.Time
			c.add(Change{Kind: Unreachable, Text: after.Reason})
		}
		return after, c.seal(after.ID)
	}
	if o.Unread != "" && before != nil {
		with := *o
		with.Findings = slices.Concat(o.Findings, list.Filter(before.Findings, func(f Finding) bool { return f.Rule == DriftRule }))
		o = &with
		c.o = o
	}
	after.take(o)
	switch {
	case c.cause == ByBaseline:
		c.add(Change{Kind: FirstSeen, Text: fmt.Sprintf("%s %s, %s: %s, %s, %d for information", after.OS, after.Release, cmp.Or(after.Role, "no role"),
			show.Plural(after.Errors, "error"), show.Plural(after.Warnings, "warning"), after.Infos)})
		after.Findings = slices.Clone(o.Findings)
		for i := range after.Findings {
			after.Findings[i].Since = o.Time
		}
		return after, c.seal(after.ID)
	case !before.UnreachableSince.IsZero():
		c.add(Change{Kind: Reachable, Text: "reached again, after " + show.Long(o.Time.Sub(before.UnreachableSince))})
	}
	if text := factsChanged(before, &after); text != "" {
		c.add(Change{Kind: Facts, Text: text})
	} else if before.Knowledge != after.Knowledge {
		c.cause = ByCatalogue
	}
	if before.Set != after.Set {
		c.firstRecord = before.Record == ""
		after.Findings = c.findings(before.Findings, o.Findings)
	}
	return after, c.seal(after.ID)
}

// take updates the host from an audit.
func (h *Host) take(o *Observation) {
	if o.ID != "" && !strings.HasPrefix(h.ID, o.ID) {
		h.ID = o.ID
	}
	h.LastSuccess, h.UnreachableSince, h.Reason = o.Time, time.Time{}, ""
	h.Hostname, h.OS, h.Release, h.Role = o.Hostname, o.OS, o.Release, o.Role
	h.Facts, h.Knowledge, h.Set = o.Facts, o.Knowledge, SetDigest(o.Findings)
	h.Unread = o.Unread
	if o.Record != "" {
		h.Record = o.Record
	}
	h.Errors, h.Warnings, h.Infos, h.Drifts = 0, 0, 0, 0
	for _, f := range o.Findings {
		if f.Rule == DriftRule {
			h.Drifts++
		}
		switch f.Severity {
		case audit.Error:
			h.Errors++
		case audit.Warning:
			h.Warnings++
		default:
			h.Infos++
		}
	}
}

// factsChanged describes how a host changed; "" if it did not.
func factsChanged(a, b *Host) string {
	var what []string
	for _, c := range []struct{ name, was, is string }{{"release", a.OS + " " + a.Release, b.OS + " " + b.Release}, {"role", a.Role, b.Role}, {"host name", a.Hostname, b.Hostname}} {
		if c.was != c.is {
			what = append(what, fmt.Sprintf("%s %s → %s", c.name, c.was, c.is))
		}
	}
	if a.Facts == b.Facts && len(what) == 0 {
		return ""
	}
	if len(what) == 0 {
		return "settings or hardware changed"
	}
	return shorten(strings.Join(what, ", "))
}

type comparison struct {
	o       *Observation
	cause   Cause
	changes []Change
	// firstRecord is set if no earlier sweep could compare the host with what was applied.
	firstRecord bool
}

func (c *comparison) add(change Change) {
	change.Time, change.Name, change.Cause = c.o.Time, c.o.Name, c.cause
	if c.firstRecord && change.Kind == Drift {
		change.Cause = ByBaseline
	}
	c.changes = append(c.changes, change)
}

func (c *comparison) seal(host string) []Change {
	for i := range c.changes {
		c.changes[i].Host = host
	}
	return c.changes
}

// findings records what appeared and disappeared, and returns the present findings;
// those that persist keep their original text.
func (c *comparison) findings(was, is []Finding) []Finding {
	old := map[string]*Finding{}
	for i := range was {
		old[was[i].key()] = &was[i]
	}
	stand, now, drifts := slices.Clone(is), map[string]bool{}, map[string]bool{}
	for i := range stand {
		f := &stand[i]
		key := f.key()
		now[key] = true
		drifts[f.ID] = f.Rule == DriftRule
		if o := old[key]; o != nil {
			*f = *o
			continue
		}
		f.Since = c.o.Time
		c.finding(kindOf(f, Came, Drift), f)
	}
	for i := range was {
		if !now[was[i].key()] && !drifts[was[i].ID] { // a drift whose value changed has not ended
			c.finding(kindOf(&was[i], Went, DriftEnded), &was[i])
		}
	}
	return stand
}

func kindOf(f *Finding, usual, drift Kind) Kind {
	if f.Rule == DriftRule {
		return drift
	}
	return usual
}

func (c *comparison) finding(kind Kind, f *Finding) {
	c.add(Change{Kind: kind, Finding: f.ID, Rule: f.Rule, Tunable: f.Tunable, Severity: f.Severity, Text: f.Text, Expected: f.Expected, Found: f.Found})
}

// DriftFinding returns the finding that something on a host differs from what linerate
// applied; expected and found may be "", because the content of files is not stored.
func DriftFinding(what, tunable, expected, found, applied string) Finding {
	text := fmt.Sprintf("%s is %s, not as linerate applied it (%s)", what, cmp.Or(found, "gone"), applied)
	if expected != "" {
		text = fmt.Sprintf("%s is %s; linerate applied %s (%s)", what, cmp.Or(found, "gone"), expected, applied)
	}
	return Finding{ID: shorten(DriftRule + ":" + what), Rule: DriftRule, Tunable: shorten(tunable), Severity: audit.Warning,
		Text: shorten(text), Expected: shorten(expected), Found: shorten(found)}
}

// Of converts an audit's findings to the form that a fleet stores.
func Of(r *audit.Report) []Finding {
	out := make([]Finding, len(r.Findings))
	for i, f := range r.Findings {
		out[i] = Finding{ID: shorten(f.ID), Rule: shorten(f.Rule()), Tunable: shorten(f.Name), Severity: f.Severity, Text: shorten(f.Message)}
	}
	return out
}

// shorten truncates a text at a character boundary.
func shorten(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText-len("…")], "") + "…"
}

package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"linerate/internal/audit"
	"linerate/internal/fleet"
	"linerate/internal/ledger"
	"linerate/internal/list"
)

// Observe stores what is new in a sweep's observations.
func (s *Ledger) Observe(ctx context.Context, sweep string, seen ...fleet.Observation) (changes []fleet.Change, err error) {
	err = s.write(ctx, func(w *work) {
		o := observing{work: w, id: sweep, rules: map[fleet.RuleCount]int{}, findings: map[string]int64{}}
		o.begin()
		for _, one := range seen {
			o.one(storable(one))
		}
		changes = o.changes
		o.end()
	})
	if err != nil {
		return nil, err
	}
	return changes, nil
}

// Forget removes a host; its recorded changes stay.
func (s *Ledger) Forget(ctx context.Context, name string, at time.Time) error {
	return s.write(ctx, func(w *work) {
		o := observing{work: w, rules: map[fleet.RuleCount]int{}, seq: last(w, "seq", "fleet_changes")}
		h, n, _ := o.hostBy("JOIN fleet_names m ON m.host = h.n WHERE m.name = ?", ", m.sweep", name)
		if h == nil {
			w.fail(ledger.ErrNotFound)
			return
		}
		o.drop(h, n, fleet.Change{Time: at, Name: name, Kind: fleet.Gone, Cause: fleet.ByHost, Text: "forgotten"})
		o.end()
	})
}

// observing is one transaction of a sweep.
type observing struct {
	*work
	id string // of the sweep

	sweep, seq           int64 // numbers of the sweep and of the last change
	reached, unreachable int
	changes              []fleet.Change
	rules                map[fleet.RuleCount]int // to add to the counts, by key without Hosts
	findings             map[string]int64        // row numbers, by digest
}

func (o *observing) begin() {
	var ended int64
	if !o.row("SELECT n, ended FROM fleet_sweeps WHERE id = ?", []any{o.id}, &o.sweep, &ended) {
		o.fail(ledger.ErrNotFound)
	}
	if ended != 0 {
		o.fail(ledger.ErrSweepEnded)
	}
	o.seq = last(o.work, "seq", "fleet_changes")
}

// storable returns an observation with its texts in the form in which they are read back.
func storable(o fleet.Observation) *fleet.Observation {
	for _, text := range []*string{&o.Name, &o.Failure, &o.ID, &o.Hostname, &o.OS, &o.Release, &o.Role, &o.Facts, &o.Knowledge, &o.Record, &o.Unread} {
		*text = ledger.Storable(*text)
	}
	o.Findings = slices.Clone(o.Findings)
	for i := range o.Findings {
		f := &o.Findings[i]
		for _, text := range []*string{&f.ID, &f.Rule, &f.Tunable, &f.Text, &f.Expected, &f.Found} {
			*text = ledger.Storable(*text)
		}
	}
	return &o
}

// one compares an observation with the known state of its host.
func (o *observing) one(seen *fleet.Observation) {
	before, n, done := o.known(seen)
	if o.err != nil || done {
		return
	}
	o.tried(seen)
	if before != nil && seen.Failure == "" && before.Set != fleet.SetDigest(seen.Findings) {
		before.Findings = o.findingsOf(n)
	}
	after, changes := fleet.Compare(before, seen)
	n = o.host(before, &after, n)
	o.count(before, &after, n)
	o.name(seen.Name, n)
	o.add(changes)
}

const hostColumns = "h.id, h.name, h.hostname, h.os, h.release, h.role, h.first_seen, h.last_success, h.unreachable_since, h.reason, h.facts, h.knowledge, h.finding_set, h.errors, h.warnings, h.infos, h.record, h.unread, h.drifts"

// scanHost scans a host and the values after its columns.
func scanHost(row Row, more ...any) (h fleet.Host, err error) {
	var first, last, since int64
	err = row.Scan(append([]any{&h.ID, &h.Name, &h.Hostname, &h.OS, &h.Release, &h.Role, &first, &last, &since, &h.Reason,
		&h.Facts, &h.Knowledge, &h.Set, &h.Errors, &h.Warnings, &h.Infos, &h.Record, &h.Unread, &h.Drifts}, more...)...)
	h.FirstSeen, h.LastSuccess, h.UnreachableSince = timeOf(first), timeOf(last), timeOf(since)
	return h, err
}

// hostBy finds a host, nil if there is none, with its number and another column.
func (o *observing) hostBy(where, column, value string) (h *fleet.Host, n, other int64) {
	for _, found := range rows(o.work, "SELECT "+hostColumns+", h.n"+column+" FROM fleet_hosts h "+where+" LIMIT 1", []any{value}, func(r Row) (fleet.Host, error) { return scanHost(r, &n, &other) }) {
		return &found, n, other
	}
	return nil, 0, 0
}

// host stores the current state of a host, and returns its number.
func (o *observing) host(before, after *fleet.Host, n int64) int64 {
	columns := strings.ReplaceAll(hostColumns, "h.", "")
	values := []any{after.ID, after.Name, after.Hostname, after.OS, after.Release, after.Role, millis(after.FirstSeen), millis(after.LastSuccess),
		millis(after.UnreachableSince), after.Reason, after.Facts, after.Knowledge, after.Set, after.Errors, after.Warnings, after.Infos, after.Record, after.Unread, after.Drifts}
	if before != nil {
		o.exec("UPDATE fleet_hosts SET "+strings.ReplaceAll(columns, ",", " = ?,")+" = ? WHERE n = ?", append(values, n)...)
		return n
	}
	n = last(o.work, "n", "fleet_hosts") + 1
	o.exec("INSERT INTO fleet_hosts ("+columns+", n) VALUES (?"+strings.Repeat(", ?", len(values))+")", append(values, n)...)
	return n
}

// count updates a host's findings and the counts by rule.
func (o *observing) count(before, after *fleet.Host, n int64) {
	moved := before != nil && (before.Role != after.Role || before.OS != after.OS || before.Release != after.Release)
	changed := before == nil || before.Set != after.Set
	if !moved && !changed {
		return
	}
	var was []fleet.Finding
	if before != nil {
		if was = before.Findings; was == nil {
			was = o.findingsOf(n)
		}
		o.tally(before, was, -1)
	}
	if !changed {
		o.tally(after, was, 1)
		return
	}
	o.tally(after, after.Findings, 1)
	o.keep(n, was, after.Findings)
}

func (o *observing) tally(h *fleet.Host, findings []fleet.Finding, by int) {
	for rule, severity := range fleet.Worst(findings) {
		o.rules[fleet.RuleCount{Rule: rule, Severity: severity, Role: h.Role, OS: h.OS, Release: h.Release}] += by
	}
}

// keep updates the stored findings of a host to the current ones.
func (o *observing) keep(n int64, was, stand []fleet.Finding) {
	old, now := map[int64]bool{}, map[int64]bool{}
	for i := range was {
		old[o.number(&was[i])] = true
	}
	for i := range stand {
		at := o.number(&stand[i])
		if !old[at] && !now[at] {
			o.exec("INSERT INTO fleet_host_findings (host, finding, since) VALUES (?, ?, ?)", n, at, millis(stand[i].Since))
		}
		now[at] = true
	}
	for at := range old {
		if !now[at] {
			o.exec("DELETE FROM fleet_host_findings WHERE host = ? AND finding = ?", n, at)
		}
	}
}

// number returns the row number of a finding; hosts share findings.
func (o *observing) number(f *fleet.Finding) int64 {
	h := sha256.New()
	parts := []string{f.ID, string(f.Severity), f.Text}
	if f.Expected+f.Found != "" {
		parts = append(parts, f.Expected, f.Found)
	}
	for _, part := range parts {
		h.Write([]byte(ledger.Storable(part) + "\x00"))
	}
	digest := hex.EncodeToString(h.Sum(nil)[:16])
	if n, ok := o.findings[digest]; ok {
		return n
	}
	var n int64
	if !o.row("SELECT n FROM fleet_findings WHERE digest = ?", []any{digest}, &n) {
		n = last(o.work, "n", "fleet_findings") + 1
		o.exec("INSERT INTO fleet_findings (n, digest, id, rule, tunable, severity, text, expected, found) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			n, digest, f.ID, f.Rule, f.Tunable, string(f.Severity), f.Text, f.Expected, f.Found)
	}
	o.findings[digest] = n
	return n
}

// add appends changes.
func (o *observing) add(changes []fleet.Change) {
	for _, c := range changes {
		o.seq++
		c.Seq, c.Sweep, c.Time = o.seq, o.id, timeOf(millis(c.Time))
		o.changes = append(o.changes, c)
		o.exec("INSERT INTO fleet_changes (seq, sweep, "+changeColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			c.Seq, o.sweep, millis(c.Time), c.Host, c.Name, string(c.Kind), string(c.Cause), c.Finding, c.Rule, c.Tunable, string(c.Severity), c.Text, c.Expected, c.Found)
	}
}

const changeColumns = "time, host, name, kind, cause, finding, rule, tunable, severity, text, expected, found"

// end stores the totals.
func (o *observing) end() {
	alerts := list.Count(o.changes, func(c fleet.Change) bool { return c.Alerts() })
	for k, by := range o.rules {
		if by != 0 {
			o.exec(`INSERT INTO fleet_rule_counts (rule, severity, role, os, release, hosts) VALUES (?, ?, ?, ?, ?, ?)
				ON CONFLICT (rule, severity, role, os, release) DO UPDATE SET hosts = fleet_rule_counts.hosts + excluded.hosts`,
				k.Rule, string(k.Severity), k.Role, k.OS, k.Release, by)
		}
	}
	o.exec("UPDATE fleet_sweeps SET reached = reached + ?, unreachable = unreachable + ?, changes = changes + ?, alerts = alerts + ? WHERE n = ?",
		o.reached, o.unreachable, len(o.changes), alerts, o.sweep)
}

// findingsOf returns the stored findings of a host.
func (o *observing) findingsOf(n int64) (all []fleet.Finding) {
	if o.err == nil {
		all, o.err = findingsOf(o.ctx, o.tx, n)
	}
	return all
}

// findingsOf returns the findings of a host, worst first; it never returns nil.
func findingsOf(ctx context.Context, in Querier, n int64) ([]fleet.Finding, error) {
	return collect(ctx, in, `SELECT f.id, f.rule, f.tunable, f.severity, f.text, f.expected, f.found, a.since FROM fleet_host_findings a JOIN fleet_findings f ON f.n = a.finding
		WHERE a.host = ? ORDER BY `+worstFirst("f.severity")+`, f.id`, []any{n}, func(r Row) (f fleet.Finding, err error) {
		var since int64
		err = r.Scan(&f.ID, &f.Rule, &f.Tunable, &f.Severity, &f.Text, &f.Expected, &f.Found, &since)
		f.Since = timeOf(since)
		return f, err
	})
}

// worstFirst returns an expression that sorts by severity.
func worstFirst(column string) string {
	return "CASE " + column + " WHEN '" + string(audit.Error) + "' THEN 0 WHEN '" + string(audit.Warning) + "' THEN 1 ELSE 2 END"
}

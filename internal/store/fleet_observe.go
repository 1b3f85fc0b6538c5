package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"linerate/internal/audit"
	"linerate/internal/fleet"
	"linerate/internal/ledger"
)

// Observe stores what is new in a sweep's observations.
func (s *Ledger) Observe(ctx context.Context, sweep string, seen ...fleet.Observation) (changes []fleet.Change, err error) {
	err = s.write(ctx, func(tx Tx) error {
		o := s.observing(ctx, tx, sweep)
		if err := o.begin(); err != nil {
			return err
		}
		for _, one := range seen {
			if err := o.one(storable(one)); err != nil {
				return err
			}
		}
		changes = o.changes
		return o.end()
	})
	if err != nil {
		return nil, err
	}
	return changes, nil
}

func (s *Ledger) observing(ctx context.Context, tx Tx, sweep string) *observing {
	return &observing{s: s, ctx: ctx, tx: tx, id: sweep, rules: map[fleet.RuleCount]int{}, findings: map[string]int64{}}
}

// Forget removes a host; its recorded changes stay.
func (s *Ledger) Forget(ctx context.Context, name string, at time.Time) error {
	return s.write(ctx, func(tx Tx) error {
		o := s.observing(ctx, tx, "")
		var last int64
		h, n, err := o.hostBy("JOIN fleet_names m ON m.host = h.n WHERE m.name = ?", ", m.sweep", &last, name)
		if err == nil && h == nil {
			err = ledger.ErrNotFound
		}
		if err == nil {
			err = o.row("SELECT COALESCE(MAX(seq), 0) FROM fleet_changes").Scan(&o.seq)
		}
		if err == nil {
			err = o.drop(h, n, fleet.Change{Time: at, Name: name, Kind: fleet.Gone, Cause: fleet.ByHost, Text: "forgotten"})
		}
		if err != nil {
			return err
		}
		return o.end()
	})
}

// observing is one transaction of a sweep.
type observing struct {
	s   *Ledger
	ctx context.Context
	tx  Tx
	id  string // of the sweep

	sweep, seq           int64 // numbers of the sweep and of the last change
	reached, unreachable int
	changes              []fleet.Change
	rules                map[fleet.RuleCount]int // to add to the counts, by key without Hosts
	findings             map[string]int64        // row numbers, by digest
}

func (o *observing) exec(query string, values ...any) error {
	_, err := o.tx.Exec(o.ctx, query, args(values...)...)
	return err
}

func (o *observing) row(query string, values ...any) Row {
	return lookup(o.ctx, o.tx, query, args(values...)...)
}

func (o *observing) begin() error {
	var ended int64
	err := o.row("SELECT n, ended FROM fleet_sweeps WHERE id = ?", o.id).Scan(&o.sweep, &ended)
	switch {
	case errors.Is(err, errNoRow):
		return ledger.ErrNotFound
	case err == nil && ended != 0:
		return ledger.ErrSweepEnded
	case err != nil:
		return err
	}
	return o.row("SELECT COALESCE(MAX(seq), 0) FROM fleet_changes").Scan(&o.seq)
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
func (o *observing) one(seen *fleet.Observation) error {
	before, n, done, err := o.known(seen)
	if err != nil || done {
		return err
	}
	o.tried(seen)
	if before != nil && seen.Failure == "" && before.Set != fleet.SetDigest(seen.Findings) {
		if before.Findings, err = o.s.findingsOf(o.ctx, o.tx, n); err != nil {
			return err
		}
	}
	after, changes := fleet.Compare(before, seen)
	if n, err = o.host(before, &after, n); err != nil {
		return err
	}
	if err := o.count(before, &after, n); err != nil {
		return err
	}
	if err := o.name(seen.Name, n); err != nil {
		return err
	}
	return o.add(changes)
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

// hostBy finds a host; nil without error if there is none.
func (o *observing) hostBy(where, column string, into *int64, value string) (*fleet.Host, int64, error) {
	var n int64
	h, err := scanHost(o.row("SELECT "+hostColumns+", h.n"+column+" FROM fleet_hosts h "+where, value), &n, into)
	if errors.Is(err, errNoRow) {
		return nil, 0, nil
	}
	return &h, n, err
}

// host stores the current state of a host.
func (o *observing) host(before, after *fleet.Host, n int64) (int64, error) {
	values := []any{after.ID, after.Name, after.Hostname, after.OS, after.Release, after.Role, millis(after.FirstSeen), millis(after.LastSuccess),
		millis(after.UnreachableSince), after.Reason, after.Facts, after.Knowledge, after.Set, after.Errors, after.Warnings, after.Infos, after.Record, after.Unread, after.Drifts}
	if before != nil {
		return n, o.exec(`UPDATE fleet_hosts SET id = ?, name = ?, hostname = ?, os = ?, release = ?, role = ?, first_seen = ?, last_success = ?,
			unreachable_since = ?, reason = ?, facts = ?, knowledge = ?, finding_set = ?, errors = ?, warnings = ?, infos = ?, record = ?, unread = ?, drifts = ? WHERE n = ?`, append(values, n)...)
	}
	n, err := next(o.ctx, o.tx, "n", "fleet_hosts")
	if err != nil {
		return 0, err
	}
	return n, o.exec(`INSERT INTO fleet_hosts (id, name, hostname, os, release, role, first_seen, last_success, unreachable_since, reason,
		facts, knowledge, finding_set, errors, warnings, infos, record, unread, drifts, n) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, append(values, n)...)
}

// count updates a host's findings and the counts by rule.
func (o *observing) count(before, after *fleet.Host, n int64) error {
	moved := before != nil && (before.Role != after.Role || before.OS != after.OS || before.Release != after.Release)
	changed := before == nil || before.Set != after.Set
	if !moved && !changed {
		return nil
	}
	var was []fleet.Finding
	if before != nil {
		if was = before.Findings; was == nil {
			var err error
			if was, err = o.s.findingsOf(o.ctx, o.tx, n); err != nil {
				return err
			}
		}
		o.tally(before, was, -1)
	}
	if !changed {
		o.tally(after, was, 1)
		return nil
	}
	o.tally(after, after.Findings, 1)
	return o.keep(n, was, after.Findings)
}

func (o *observing) tally(h *fleet.Host, findings []fleet.Finding, by int) {
	for rule, severity := range fleet.Worst(findings) {
		o.rules[fleet.RuleCount{Rule: rule, Severity: severity, Role: h.Role, OS: h.OS, Release: h.Release}] += by
	}
}

// keep updates the stored findings of a host to the current ones.
func (o *observing) keep(n int64, was, stand []fleet.Finding) error {
	old := map[int64]bool{}
	for i := range was {
		at, err := o.number(&was[i])
		if err != nil {
			return err
		}
		old[at] = true
	}
	now := map[int64]bool{}
	for i := range stand {
		at, err := o.number(&stand[i])
		if err != nil {
			return err
		}
		if !old[at] && !now[at] {
			if err := o.exec("INSERT INTO fleet_host_findings (host, finding, since) VALUES (?, ?, ?)", n, at, millis(stand[i].Since)); err != nil {
				return err
			}
		}
		now[at] = true
	}
	for at := range old {
		if !now[at] {
			if err := o.exec("DELETE FROM fleet_host_findings WHERE host = ? AND finding = ?", n, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// number returns the row number of a finding; hosts share findings.
func (o *observing) number(f *fleet.Finding) (int64, error) {
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
		return n, nil
	}
	var n int64
	err := o.row("SELECT n FROM fleet_findings WHERE digest = ?", digest).Scan(&n)
	if errors.Is(err, errNoRow) {
		if n, err = next(o.ctx, o.tx, "n", "fleet_findings"); err == nil {
			err = o.exec("INSERT INTO fleet_findings (n, digest, id, rule, tunable, severity, text, expected, found) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
				n, digest, f.ID, f.Rule, f.Tunable, string(f.Severity), f.Text, f.Expected, f.Found)
		}
	}
	o.findings[digest] = n
	return n, err
}

// add appends changes.
func (o *observing) add(changes []fleet.Change) error {
	for _, c := range changes {
		o.seq++
		c.Seq, c.Sweep, c.Time = o.seq, o.id, timeOf(millis(c.Time))
		o.changes = append(o.changes, c)
		if err := o.exec("INSERT INTO fleet_changes (seq, sweep, "+changeColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			c.Seq, o.sweep, millis(c.Time), c.Host, c.Name, string(c.Kind), string(c.Cause), c.Finding, c.Rule, c.Tunable, string(c.Severity), c.Text, c.Expected, c.Found); err != nil {
			return err
		}
	}
	return nil
}

const changeColumns = "time, host, name, kind, cause, finding, rule, tunable, severity, text, expected, found"

// end stores the totals.
func (o *observing) end() error {
	alerts := 0
	for i := range o.changes {
		if o.changes[i].Alerts() {
			alerts++
		}
	}
	for k, by := range o.rules {
		if by == 0 {
			continue
		}
		if err := o.exec(`INSERT INTO fleet_rule_counts (rule, severity, role, os, release, hosts) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (rule, severity, role, os, release) DO UPDATE SET hosts = fleet_rule_counts.hosts + excluded.hosts`,
			k.Rule, string(k.Severity), k.Role, k.OS, k.Release, by); err != nil {
			return err
		}
	}
	return o.exec("UPDATE fleet_sweeps SET reached = reached + ?, unreachable = unreachable + ?, changes = changes + ?, alerts = alerts + ? WHERE n = ?",
		o.reached, o.unreachable, len(o.changes), alerts, o.sweep)
}

// findingsOf returns the findings of a host, worst first; it never returns nil.
func (s *Ledger) findingsOf(ctx context.Context, in Querier, n int64) ([]fleet.Finding, error) {
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

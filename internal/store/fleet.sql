-- Fleets: the current state of hosts, their changes, and waves of plans applied to them,
-- append-only. Times are milliseconds since 1970, 0 for none; host, finding and wave are row
-- numbers, step counts from 1. Counts by rule are stored, because pages must not count a
-- million rows.
CREATE TABLE fleet_hosts (
	n {bigint} NOT NULL PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, hostname TEXT NOT NULL,
	os TEXT NOT NULL, release TEXT NOT NULL, role TEXT NOT NULL,
	first_seen {bigint} NOT NULL, last_success {bigint} NOT NULL, unreachable_since {bigint} NOT NULL, reason TEXT NOT NULL,
	facts TEXT NOT NULL, knowledge TEXT NOT NULL, finding_set TEXT NOT NULL,
	errors {bigint} NOT NULL, warnings {bigint} NOT NULL, infos {bigint} NOT NULL,
	record TEXT NOT NULL, unread TEXT NOT NULL, drifts {bigint} NOT NULL
);
CREATE INDEX fleet_hosts_name ON fleet_hosts (name);
CREATE INDEX fleet_hosts_hostname ON fleet_hosts (hostname);
CREATE TABLE fleet_names (
	name TEXT NOT NULL PRIMARY KEY, host {bigint} NOT NULL, sweep {bigint} NOT NULL
);
CREATE INDEX fleet_names_host ON fleet_names (host);
CREATE INDEX fleet_names_sweep ON fleet_names (sweep);
CREATE TABLE fleet_findings (
	n {bigint} NOT NULL PRIMARY KEY, digest TEXT NOT NULL UNIQUE,
	id TEXT NOT NULL, rule TEXT NOT NULL, tunable TEXT NOT NULL, severity TEXT NOT NULL, text TEXT NOT NULL,
	expected TEXT NOT NULL, found TEXT NOT NULL
);
CREATE INDEX fleet_findings_rule ON fleet_findings (rule);
CREATE TABLE fleet_host_findings (
	host {bigint} NOT NULL, finding {bigint} NOT NULL, since {bigint} NOT NULL, PRIMARY KEY (host, finding)
);
CREATE INDEX fleet_host_findings_finding ON fleet_host_findings (finding, host);
CREATE TABLE fleet_rule_counts (
	rule TEXT NOT NULL, severity TEXT NOT NULL, role TEXT NOT NULL, os TEXT NOT NULL, release TEXT NOT NULL, hosts {bigint} NOT NULL,
	PRIMARY KEY (rule, severity, role, os, release)
);
CREATE TABLE fleet_changes (
	seq {bigint} NOT NULL PRIMARY KEY, sweep {bigint} NOT NULL, time {bigint} NOT NULL, host TEXT NOT NULL, name TEXT NOT NULL,
	kind TEXT NOT NULL, cause TEXT NOT NULL, finding TEXT NOT NULL, rule TEXT NOT NULL, tunable TEXT NOT NULL,
	severity TEXT NOT NULL, text TEXT NOT NULL, expected TEXT NOT NULL, found TEXT NOT NULL
);
CREATE INDEX fleet_changes_time ON fleet_changes (time, seq);
CREATE INDEX fleet_changes_host ON fleet_changes (host, time, seq);
CREATE INDEX fleet_changes_rule ON fleet_changes (rule, time, seq);
CREATE INDEX fleet_changes_kind ON fleet_changes (kind, time, seq);
CREATE TABLE fleet_sweeps (
	n {bigint} NOT NULL PRIMARY KEY, id TEXT NOT NULL UNIQUE, began {bigint} NOT NULL, ended {bigint} NOT NULL, source TEXT NOT NULL,
	hosts {bigint} NOT NULL, reached {bigint} NOT NULL, unreachable {bigint} NOT NULL, changes {bigint} NOT NULL, alerts {bigint} NOT NULL,
	errors {bigint} NOT NULL, warnings {bigint} NOT NULL, infos {bigint} NOT NULL, knowledge TEXT NOT NULL
);
CREATE TABLE fleet_waves (
	n {bigint} NOT NULL PRIMARY KEY, id TEXT NOT NULL UNIQUE, began {bigint} NOT NULL, ended {bigint} NOT NULL, source TEXT NOT NULL,
	hosts {bigint} NOT NULL, outcome TEXT NOT NULL, reason TEXT NOT NULL, options TEXT NOT NULL
);
CREATE TABLE fleet_wave_events (
	seq {bigint} NOT NULL PRIMARY KEY, wave {bigint} NOT NULL, time {bigint} NOT NULL, name TEXT NOT NULL, host TEXT NOT NULL, source TEXT NOT NULL, become TEXT NOT NULL,
	step {bigint} NOT NULL, state TEXT NOT NULL, digest TEXT NOT NULL, txn TEXT NOT NULL, text TEXT NOT NULL
);
CREATE INDEX fleet_wave_events_wave ON fleet_wave_events (wave, seq);
CREATE INDEX fleet_wave_events_name ON fleet_wave_events (name, seq);
CREATE INDEX fleet_wave_events_host ON fleet_wave_events (host, seq);

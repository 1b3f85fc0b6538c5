package sqldb

// schema4 adds waves: plans applied to hosts of a fleet, and what became of each host,
// append-only. wave is a number of a row, step counts from 1.
const schema4 = `
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
`

// schema5 adds drift from what linerate applied: each host's record, the values of drift,
// and since when a finding stands.
const schema5 = `
ALTER TABLE fleet_hosts ADD COLUMN record TEXT NOT NULL DEFAULT '';
ALTER TABLE fleet_hosts ADD COLUMN unread TEXT NOT NULL DEFAULT '';
ALTER TABLE fleet_hosts ADD COLUMN drifts {bigint} NOT NULL DEFAULT 0;
ALTER TABLE fleet_findings ADD COLUMN expected TEXT NOT NULL DEFAULT '';
ALTER TABLE fleet_findings ADD COLUMN found TEXT NOT NULL DEFAULT '';
ALTER TABLE fleet_changes ADD COLUMN expected TEXT NOT NULL DEFAULT '';
ALTER TABLE fleet_changes ADD COLUMN found TEXT NOT NULL DEFAULT '';
ALTER TABLE fleet_host_findings ADD COLUMN since {bigint} NOT NULL DEFAULT 0;
`

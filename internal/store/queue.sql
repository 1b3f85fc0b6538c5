-- The queue: studies, their blocks and trials, testbeds and their leases.
CREATE TABLE queue_settings (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO queue_settings (name, value) VALUES ('brake', '');
CREATE TABLE queue_studies (
	id TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, label TEXT NOT NULL, kind TEXT NOT NULL, submitter TEXT NOT NULL,
	submitted BIGINT NOT NULL, estimate BIGINT NOT NULL, state TEXT NOT NULL, why TEXT NOT NULL, waiting BIGINT NOT NULL,
	spec {blob} NOT NULL, sets {blob} NOT NULL, ledger TEXT NOT NULL
);
CREATE TABLE queue_blocks (
	study TEXT NOT NULL, block BIGINT NOT NULL, part TEXT NOT NULL, blocks TEXT NOT NULL, job BIGINT NOT NULL,
	state TEXT NOT NULL, testbed TEXT NOT NULL, epoch BIGINT NOT NULL, tries BIGINT NOT NULL,
	PRIMARY KEY (study, block)
);
CREATE INDEX queue_blocks_job ON queue_blocks (job);
CREATE INDEX queue_blocks_testbed ON queue_blocks (testbed, state);
CREATE TABLE queue_trials (
	study TEXT NOT NULL, part TEXT NOT NULL, block BIGINT NOT NULL, arm TEXT NOT NULL, attempt BIGINT NOT NULL,
	place BIGINT NOT NULL, unavailable BIGINT NOT NULL, testbed TEXT NOT NULL, epoch BIGINT NOT NULL, doc TEXT NOT NULL,
	PRIMARY KEY (study, part, block, arm, attempt)
);
CREATE TABLE queue_files (study TEXT NOT NULL, name TEXT NOT NULL, data {blob} NOT NULL, PRIMARY KEY (study, name));
CREATE TABLE queue_beds (study TEXT NOT NULL, testbed TEXT NOT NULL, environment TEXT NOT NULL, facts {blob} NOT NULL, PRIMARY KEY (study, testbed));
CREATE TABLE queue_testbeds (
	name TEXT NOT NULL PRIMARY KEY, label TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL, why TEXT NOT NULL,
	holder TEXT NOT NULL, epoch BIGINT NOT NULL, beat BIGINT NOT NULL
);

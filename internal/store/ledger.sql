-- The chain and raw bytes. Each kind of record has its own table, defined from ledger.Tables.
CREATE TABLE entries (
	seq {bigint} NOT NULL PRIMARY KEY,
	kind TEXT NOT NULL, ref TEXT NOT NULL, time TEXT NOT NULL,
	row_count {bigint} NOT NULL, digest TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL,
	UNIQUE (kind, ref)
);
CREATE TABLE blobs (
	sha256 TEXT NOT NULL PRIMARY KEY, size {bigint} NOT NULL, encoding TEXT NOT NULL, data {blob} NOT NULL
);

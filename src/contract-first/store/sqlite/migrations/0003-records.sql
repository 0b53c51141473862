-- Counts every edit of a domain's records, but not records added at the end: servers cache pages as long as the count stays the same.
-- Triggers on each table of records do the counting; they are created after its migrations.
CREATE TABLE record_edits (name TEXT PRIMARY KEY NOT NULL, count INTEGER NOT NULL) STRICT;

-- The highest revision that a record of the table had when it was deleted. One that is made anew with its id begins after it.
CREATE TABLE deleted_revisions (name TEXT PRIMARY KEY NOT NULL, revision INTEGER NOT NULL) STRICT;

-- The contract (its digest) that all records were found to fit.
CREATE TABLE passed_check (contract TEXT) STRICT;
INSERT INTO passed_check VALUES (NULL);

-- The answer to the change with each Idempotency-Key, by operation and caller: the record as JSON, and the digest of the request.
-- Expired keys are deleted, the oldest first. Times are seconds since 1970.
CREATE TABLE idempotency_keys (
  caller TEXT NOT NULL,
  operation TEXT NOT NULL,
  key TEXT NOT NULL,
  digest TEXT NOT NULL,
  answer TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  UNIQUE (caller, operation, key)
) STRICT;
CREATE INDEX idempotency_keys_by_end ON idempotency_keys (expires_at);

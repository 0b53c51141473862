-- Counts every change of a domain's records but the addition of a last one: servers keep pages while the count stays the same. Triggers
-- on each table of records count; they are made after its migrations.
CREATE TABLE record_edits (name TEXT PRIMARY KEY NOT NULL, count INTEGER NOT NULL) STRICT;

-- The contract (its digest) that all records were found to fit.
CREATE TABLE passed_check (contract TEXT) STRICT;
INSERT INTO passed_check VALUES (NULL);

-- What the change with each Idempotency-Key has come to, by its operation and caller. The digest is that of the request, the answer is the
-- record as JSON. Those that ended first are forgotten first. Times are seconds since 1970.
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

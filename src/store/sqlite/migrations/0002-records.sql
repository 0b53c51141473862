-- Counts every change of a domain's records but the addition of a last one: servers keep pages while the count stays the same. Triggers
-- on the domain's table count; they are made after its migrations.
CREATE TABLE record_edits (count INTEGER NOT NULL) STRICT;
INSERT INTO record_edits VALUES (0);

-- The contract (its digest) that all records were found to fit.
CREATE TABLE passed_check (contract TEXT) STRICT;
INSERT INTO passed_check VALUES (NULL);

-- Which record each Idempotency-Key has created, by which operation, under whose API key. The digest is that of the record as it was asked
-- for. Those that ended first are forgotten first. Times are seconds since 1970.
CREATE TABLE idempotency_keys (
  record_id INTEGER PRIMARY KEY,
  caller TEXT NOT NULL,
  operation TEXT NOT NULL,
  key TEXT NOT NULL,
  digest TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  UNIQUE (caller, operation, key)
) STRICT;
CREATE INDEX idempotency_keys_by_end ON idempotency_keys (expires_at);

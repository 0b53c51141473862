-- Which pet each Idempotency-Key has created, under whose API key. The digest is that of the pet as it was asked for. Rows stand in the
-- order of their pets, and so of their ends: the first ones are forgotten first. Times are seconds since 1970.
CREATE TABLE idempotency_keys (
  pet_id INTEGER PRIMARY KEY,
  caller TEXT NOT NULL,
  key TEXT NOT NULL,
  digest TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  UNIQUE (caller, key)
) STRICT;

-- Which pet each Idempotency-Key has created, under whose API key. The digest is that of the pet as it was asked for. Their pets' ids are
-- in the order of their ends: those of the lowest are forgotten first.
CREATE TABLE idempotency_keys (
  pet_id bigint PRIMARY KEY,
  caller text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  digest text COLLATE "C" NOT NULL,
  expires_at timestamptz NOT NULL,
  UNIQUE (caller, key)
);

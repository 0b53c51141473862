-- Whoever adds records holds a lock, from before their ids are given until they are committed. So ids become visible in their order,
-- and a page that ends with one id never lacks a lower one that is committed later. The trigger on the domain's table is made after its
-- migrations.
CREATE FUNCTION write_records() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM pg_advisory_xact_lock(TG_RELID::bigint);
  END IF;
  -- What was answered for is on disk, also where the database was set up for less.
  IF current_setting('synchronous_commit') IN ('off', 'local') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  RETURN NULL;
END
$$;

-- The contract (its digest) that all records were found to fit.
CREATE TABLE passed_check (contract text);
INSERT INTO passed_check VALUES (NULL);

-- Which record each Idempotency-Key has created, by which operation, under whose API key. The digest is that of the record as it was asked
-- for. The ids of their records are in the order of their ends: those of the lowest are forgotten first.
CREATE TABLE idempotency_keys (
  record_id bigint PRIMARY KEY,
  caller text COLLATE "C" NOT NULL,
  operation text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  digest text COLLATE "C" NOT NULL,
  expires_at timestamptz NOT NULL,
  UNIQUE (caller, operation, key)
);

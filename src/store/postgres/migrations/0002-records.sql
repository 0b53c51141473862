-- Whoever writes records holds the schema's lock, from before ids are given and rows are locked until all is committed. So ids become visible
-- in their order, a page that ends with one id never lacks a lower one that is committed later, and no two writers wait for each other.
-- The trigger on each table of records is made after its migrations.
CREATE FUNCTION write_records() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(quote_ident(TG_TABLE_SCHEMA)::regnamespace::oid::bigint);
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

-- What the change with each Idempotency-Key has come to, by its operation and caller. The digest is that of the request, the answer is the
-- record as JSON. Those that ended first are forgotten first.
CREATE TABLE idempotency_keys (
  caller text COLLATE "C" NOT NULL,
  operation text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  digest text COLLATE "C" NOT NULL,
  answer text NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (caller, operation, key)
);
CREATE INDEX idempotency_keys_by_end ON idempotency_keys (expires_at);

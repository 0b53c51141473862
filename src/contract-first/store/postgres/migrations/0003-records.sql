-- A writer of records holds the schema's advisory lock, from before ids are assigned and rows are locked until its commit. So ids become
-- visible in order, no page misses a lower id that is committed later, and writers never deadlock.
-- The trigger on each table of records is created after its migrations.
CREATE FUNCTION write_records() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(quote_ident(TG_TABLE_SCHEMA)::regnamespace::oid::bigint);
  -- An answered write must be on disk, even if the database is configured for less.
  IF current_setting('synchronous_commit') IN ('off', 'local') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  RETURN NULL;
END
$$;

-- The highest revision that a record of the table had when it was deleted. One that is made anew with its id begins after it.
CREATE TABLE deleted_revisions (name text PRIMARY KEY, revision bigint NOT NULL);

CREATE FUNCTION note_revisions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format(
    'INSERT INTO %I.deleted_revisions AS known
      SELECT $1, max((to_jsonb(deleted) ->> $2)::bigint) AS last FROM deleted HAVING count(*) > 0
      ON CONFLICT (name) DO UPDATE SET revision = excluded.revision WHERE known.revision < excluded.revision',
    TG_TABLE_SCHEMA
  ) USING TG_TABLE_NAME, TG_ARGV[0];
  RETURN NULL;
END
$$;

-- The contract (its digest) that all records were found to fit.
CREATE TABLE passed_check (contract text);
INSERT INTO passed_check VALUES (NULL);

-- The answer to the change with each Idempotency-Key, by operation and caller: the record as JSON, and the digest of the request.
-- Expired keys are deleted, the oldest first.
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

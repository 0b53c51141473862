-- Times are ISO 8601 in UTC. Scopes are separated by spaces; NULL means all. A rate is `100/s`, or `none`; NULL means the server's default.
-- `changed` is the number of the last change: servers read only keys with a higher number than the last one that they have read.
CREATE TABLE api_keys (
  place bigint GENERATED ALWAYS AS IDENTITY,
  id text PRIMARY KEY,
  name text NOT NULL,
  hash text NOT NULL UNIQUE CHECK (length(hash) = 64),
  created_at text COLLATE "C" NOT NULL,
  expires_at text COLLATE "C",
  revoked_at text COLLATE "C",
  scopes text,
  rate text,
  changed bigint NOT NULL DEFAULT 0
);

CREATE INDEX unrevoked_keys ON api_keys (expires_at) WHERE revoked_at IS NULL;
CREATE INDEX changed_api_keys ON api_keys (changed);

-- After a removal, which leaves no row, servers read all keys. A transaction that changes keys locks this row until its end, so that
-- numbers become visible in order.
CREATE TABLE api_key_changes (
  count bigint NOT NULL,
  removed bigint NOT NULL,
  -- For the ids of keys that are not stored.
  salt text NOT NULL
);
INSERT INTO api_key_changes VALUES (0, 0, gen_random_uuid());

CREATE FUNCTION count_api_key_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- A key that was made or revoked must be on disk, even if the database is configured for less.
  IF current_setting('synchronous_commit') IN ('off', 'local') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  EXECUTE format(
    'UPDATE %I.api_key_changes SET count = count + 1, removed = CASE WHEN $1 THEN count + 1 ELSE removed END',
    TG_TABLE_SCHEMA
  ) USING TG_OP IN ('DELETE', 'TRUNCATE');
  RETURN NULL;
END
$$;

CREATE TRIGGER count_api_key_change BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON api_keys
FOR EACH STATEMENT EXECUTE FUNCTION count_api_key_change();

CREATE FUNCTION note_api_key_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SELECT count FROM %I.api_key_changes', TG_TABLE_SCHEMA) INTO NEW.changed;
  RETURN NEW;
END
$$;

CREATE TRIGGER note_api_key_change BEFORE INSERT OR UPDATE ON api_keys
FOR EACH ROW EXECUTE FUNCTION note_api_key_change();

-- When a key was used last.
CREATE TABLE key_uses (key_id text COLLATE "C" PRIMARY KEY, used_at text COLLATE "C" NOT NULL);

-- The requests in each window, which begins and ends at these seconds (Unix time). Rows of expired windows are deleted. A crash may empty
-- the table: then the windows begin again.
CREATE UNLOGGED TABLE tallies (
  id text COLLATE "C" PRIMARY KEY,
  began bigint NOT NULL,
  total bigint NOT NULL,
  ends bigint NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX tallies_by_end ON tallies (ends);

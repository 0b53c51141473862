-- Servers read only the keys that have changed since they asked the last time: those with a higher number. After a removal, which leaves no
-- row, they read all. Whoever changes keys holds the row of the count until the end: so no lower number becomes visible later.
ALTER TABLE api_keys ADD COLUMN changed bigint NOT NULL DEFAULT 0;
CREATE INDEX changed_api_keys ON api_keys (changed);
ALTER TABLE api_key_changes ADD COLUMN removed bigint NOT NULL DEFAULT 0;
-- For the ids of keys that are not stored.
ALTER TABLE api_key_changes ADD COLUMN salt text NOT NULL DEFAULT gen_random_uuid();

CREATE OR REPLACE FUNCTION count_api_key_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format(
    'UPDATE %I.api_key_changes SET count = count + 1, removed = CASE WHEN $1 THEN count + 1 ELSE removed END',
    TG_TABLE_SCHEMA
  ) USING TG_OP IN ('DELETE', 'TRUNCATE');
  RETURN NULL;
END
$$;

DROP TRIGGER count_api_key_change ON api_keys;
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

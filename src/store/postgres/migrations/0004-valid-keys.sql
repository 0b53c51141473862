-- Servers read the keys that are valid again and again, however many were ever made.
CREATE INDEX unrevoked_keys ON api_keys (expires_at) WHERE revoked_at IS NULL;

-- And they read them only when this has changed, whoever changed them.
CREATE TABLE api_key_changes (count bigint NOT NULL);
INSERT INTO api_key_changes VALUES (0);

CREATE FUNCTION count_api_key_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('UPDATE %I.api_key_changes SET count = count + 1', TG_TABLE_SCHEMA);
  RETURN NULL;
END
$$;

CREATE TRIGGER count_api_key_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON api_keys
FOR EACH STATEMENT EXECUTE FUNCTION count_api_key_change();

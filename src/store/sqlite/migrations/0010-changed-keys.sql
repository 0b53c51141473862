-- Servers read only the keys that have changed since they asked the last time: those with a higher number. After a removal, which leaves no
-- row, they read all.
ALTER TABLE api_keys ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX changed_keys ON api_keys (changed);
CREATE TABLE api_key_changes (
  count INTEGER NOT NULL,
  removed INTEGER NOT NULL,
  -- For the ids of keys that are not stored.
  salt TEXT NOT NULL
) STRICT;
INSERT INTO api_key_changes VALUES (0, 0, hex(randomblob(16)));

CREATE TRIGGER note_added_key AFTER INSERT ON api_keys BEGIN
  UPDATE api_key_changes SET count = count + 1;
  UPDATE api_keys SET changed = (SELECT count FROM api_key_changes) WHERE rowid = NEW.rowid;
END;

CREATE TRIGGER note_updated_key
AFTER UPDATE OF id, name, hash, created_at, expires_at, revoked_at, scopes, rate ON api_keys BEGIN
  UPDATE api_key_changes SET count = count + 1;
  UPDATE api_keys SET changed = (SELECT count FROM api_key_changes) WHERE rowid = NEW.rowid;
END;

CREATE TRIGGER note_removed_key AFTER DELETE ON api_keys BEGIN
  UPDATE api_key_changes SET count = count + 1, removed = count + 1;
END;

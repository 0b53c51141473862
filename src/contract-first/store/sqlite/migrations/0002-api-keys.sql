-- Times are ISO 8601 in UTC. Scopes are separated by spaces; NULL means all. A rate is `100/s`, or `none`; NULL means the server's default.
-- `changed` is the number of the last change: servers read only keys with a higher number than the last one that they have read.
CREATE TABLE api_keys (
  id TEXT PRIMARY KEY NOT NULL,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
  created_at TEXT NOT NULL,
  expires_at TEXT,
  revoked_at TEXT,
  scopes TEXT,
  rate TEXT,
  changed INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX unrevoked_keys ON api_keys (expires_at) WHERE revoked_at IS NULL;
CREATE INDEX changed_keys ON api_keys (changed);

-- After a removal, which leaves no row, servers read all keys.
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

-- When a key was used last.
CREATE TABLE key_uses (key_id TEXT PRIMARY KEY NOT NULL, used_at TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- When a key was used last, and how often for a deprecated operation; operation_id is '' for any operation. Times are ISO 8601 in UTC.
CREATE TABLE key_uses (
  key_id TEXT NOT NULL,
  operation_id TEXT NOT NULL,
  count INTEGER NOT NULL,
  used_at TEXT NOT NULL,
  PRIMARY KEY (key_id, operation_id)
) STRICT, WITHOUT ROWID;

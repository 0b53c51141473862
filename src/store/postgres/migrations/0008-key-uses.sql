-- When a key was used last, and how often for a deprecated operation; operation_id is '' for any operation. Times are ISO 8601 in UTC.
CREATE TABLE key_uses (
  key_id text COLLATE "C",
  operation_id text COLLATE "C",
  count bigint NOT NULL,
  used_at text COLLATE "C" NOT NULL,
  PRIMARY KEY (key_id, operation_id)
);

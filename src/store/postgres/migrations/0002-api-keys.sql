-- Times are ISO 8601 in UTC.
CREATE TABLE api_keys (
  place bigint GENERATED ALWAYS AS IDENTITY,
  id text PRIMARY KEY,
  name text NOT NULL,
  hash text NOT NULL UNIQUE CHECK (length(hash) = 64),
  created_at text COLLATE "C" NOT NULL,
  expires_at text COLLATE "C",
  revoked_at text COLLATE "C"
);

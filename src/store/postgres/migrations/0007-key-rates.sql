-- As `100/s`, or `none`; NULL for the rate that servers are configured with.
ALTER TABLE api_keys ADD COLUMN rate text;

-- How much of each limit is used in the window that began at this second (Unix time). Nothing is lost when a crash empties it.
CREATE UNLOGGED TABLE tallies (
  id text COLLATE "C" PRIMARY KEY,
  began bigint NOT NULL,
  total bigint NOT NULL
) WITH (fillfactor = 50);

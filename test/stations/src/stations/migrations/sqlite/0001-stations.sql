CREATE TABLE stations (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  changed_at TEXT NOT NULL,
  name TEXT NOT NULL UNIQUE,
  region TEXT NOT NULL,
  height TEXT
) STRICT;
CREATE INDEX stations_by_region ON stations (region, seq);

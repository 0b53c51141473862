CREATE TABLE lockers (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  place TEXT NOT NULL,
  note TEXT,
  site TEXT NOT NULL,
  openings INTEGER NOT NULL,
  last_code TEXT,
  settings TEXT NOT NULL,
  UNIQUE (site, place)
) STRICT;

CREATE TABLE moments (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  its TEXT,
  is_big INTEGER,
  size TEXT,
  at TEXT NOT NULL UNIQUE,
  until TEXT UNIQUE,
  place TEXT,
  labels TEXT,
  revision INTEGER NOT NULL
) STRICT;

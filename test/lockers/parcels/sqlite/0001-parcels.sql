CREATE TABLE parcels (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  number TEXT NOT NULL,
  size TEXT NOT NULL,
  revision INTEGER NOT NULL,
  shop TEXT NOT NULL,
  arrived_at TEXT NOT NULL,
  UNIQUE (shop, number)
) STRICT;

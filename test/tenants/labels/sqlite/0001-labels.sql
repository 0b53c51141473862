CREATE TABLE labels (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  shop TEXT NOT NULL,
  code TEXT NOT NULL,
  words TEXT NOT NULL,
  UNIQUE (shop, code)
) STRICT;

CREATE INDEX labels_in_order ON labels (shop, seq);

CREATE TABLE orders (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  number TEXT NOT NULL UNIQUE,
  price INTEGER NOT NULL,
  pieces INTEGER NOT NULL,
  note TEXT,
  gift TEXT,
  status TEXT NOT NULL,
  due_at TEXT,
  placed_at TEXT NOT NULL,
  changed_at TEXT NOT NULL,
  revision INTEGER NOT NULL
) STRICT;

CREATE TABLE orders (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  number TEXT NOT NULL UNIQUE,
  pet_id INTEGER UNIQUE REFERENCES pets (id),
  coupon_code TEXT REFERENCES coupons (code),
  price INTEGER NOT NULL,
  pieces INTEGER NOT NULL,
  weight TEXT NOT NULL,
  note TEXT,
  gift TEXT,
  status TEXT NOT NULL,
  due_at TEXT,
  placed_at TEXT NOT NULL,
  changed_at TEXT NOT NULL,
  revision INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX orders_by_note ON orders (note, status);
CREATE INDEX orders_by_coupon ON orders (coupon_code);

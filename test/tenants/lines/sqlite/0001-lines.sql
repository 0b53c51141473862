CREATE TABLE lines (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  number TEXT NOT NULL,
  shop TEXT NOT NULL,
  item_id INTEGER NOT NULL,
  label TEXT,
  price INTEGER NOT NULL,
  UNIQUE (shop, number),
  FOREIGN KEY (shop, item_id) REFERENCES items (shop, id) ON DELETE CASCADE,
  FOREIGN KEY (shop, label) REFERENCES labels (shop, code)
) STRICT;

CREATE INDEX lines_by_item ON lines (shop, item_id);
CREATE INDEX lines_by_price ON lines (shop, price, seq);

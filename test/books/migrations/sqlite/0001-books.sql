CREATE TABLE books (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id > 0),
  title TEXT NOT NULL,
  isbn INTEGER,
  authors TEXT NOT NULL,
  tags TEXT,
  printed_at TEXT,
  price TEXT NOT NULL,
  is_lent INTEGER,
  rating TEXT,
  series INTEGER,
  is_sold INTEGER,
  shelf TEXT,
  note TEXT
) STRICT;

CREATE INDEX books_by_isbn ON books (isbn);
CREATE INDEX books_by_is_lent ON books (is_lent);
CREATE INDEX books_by_price ON books (price);

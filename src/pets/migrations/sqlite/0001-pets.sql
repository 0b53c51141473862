-- Shape only: which names and statuses are allowed is the contract's to say, and checked before a pet gets here.
-- AUTOINCREMENT, so that no id ever comes back, even when somebody deletes the newest row by hand.
CREATE TABLE pets (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id > 0),
  name TEXT NOT NULL,
  category_id INTEGER NOT NULL,
  status TEXT
) STRICT;

-- An index of a rowid table ends in the rowid: this one also keeps the pets of a status in the order of their ids.
CREATE INDEX pets_by_status ON pets (status) WHERE status IS NOT NULL;

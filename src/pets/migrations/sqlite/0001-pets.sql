-- Types only: the contract says which names and statuses are allowed, and pets are checked before they are stored.
-- AUTOINCREMENT, so that no id is used again, even when somebody deletes the newest row by hand.
CREATE TABLE pets (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id > 0),
  name TEXT NOT NULL,
  category_id INTEGER NOT NULL,
  status TEXT
) STRICT;

-- An index of a rowid table ends in the rowid: this one also keeps the pets of a status in the order of their ids.
CREATE INDEX pets_by_status ON pets (status) WHERE status IS NOT NULL;

-- Shape only: which names and statuses are allowed is the contract's to say, and checked before a pet gets here.
-- AUTOINCREMENT, so that no id ever comes back, even when somebody deletes the newest row by hand.
CREATE TABLE pets (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id > 0),
  name TEXT NOT NULL CHECK (instr(name, char(0)) = 0),
  category_id INTEGER NOT NULL,
  status TEXT CHECK (status <> '')
) STRICT;

-- An index of a rowid table ends in the rowid: this one also keeps the pets of a status in the order of their ids.
CREATE INDEX pets_by_status ON pets (status) WHERE status IS NOT NULL;

-- Counts every change but the addition of a last pet: servers keep pages while the count stays the same.
CREATE TABLE pet_edits (count INTEGER NOT NULL) STRICT;
INSERT INTO pet_edits VALUES (0);

CREATE TRIGGER count_updated_pets AFTER UPDATE ON pets BEGIN
  UPDATE pet_edits SET count = count + 1;
END;

CREATE TRIGGER count_deleted_pets AFTER DELETE ON pets BEGIN
  UPDATE pet_edits SET count = count + 1;
END;

CREATE TRIGGER count_pets_added_in_between AFTER INSERT ON pets
WHEN EXISTS (SELECT 1 FROM pets WHERE id > NEW.id) BEGIN
  UPDATE pet_edits SET count = count + 1;
END;

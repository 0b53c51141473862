-- To replace the last pet (INSERT OR REPLACE) is an edit too: during a statement, sqlite_sequence still has the previous highest id.
DROP TRIGGER count_pets_added_in_between;
CREATE TRIGGER count_pets_added_in_between AFTER INSERT ON pets
WHEN NEW.id <= (SELECT seq FROM sqlite_sequence WHERE name = 'pets') BEGIN
  UPDATE pet_edits SET count = count + 1;
END;

-- The migrations that have run, with the digests of their files. A part is `engine`, or the name of a collection.
CREATE TABLE applied_migrations (
  part TEXT NOT NULL,
  name TEXT NOT NULL,
  digest TEXT NOT NULL,
  PRIMARY KEY (part, name)
) STRICT;

-- All triggers as they were after the last migration. With others, no server starts.
CREATE TABLE known_triggers (name TEXT PRIMARY KEY NOT NULL, sql TEXT NOT NULL) STRICT;

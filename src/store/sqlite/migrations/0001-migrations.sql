-- The migrations that have run, with the digests of their files. A part is `engine`, or the name of a collection.
CREATE TABLE applied_migrations (
  part TEXT NOT NULL,
  name TEXT NOT NULL,
  digest TEXT NOT NULL,
  PRIMARY KEY (part, name)
) STRICT;

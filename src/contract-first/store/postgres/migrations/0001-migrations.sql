-- The migrations that have run, with the digests of their files. A part is `engine`, or the name of a collection.
CREATE TABLE applied_migrations (
  part text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  digest text NOT NULL,
  PRIMARY KEY (part, name)
);

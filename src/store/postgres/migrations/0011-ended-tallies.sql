-- When the window of a limit ends, as a second of Unix time: then its row may go.
ALTER TABLE tallies ADD COLUMN ends bigint NOT NULL DEFAULT 0;
CREATE INDEX tallies_by_end ON tallies (ends);

CREATE TABLE members (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  email TEXT NOT NULL UNIQUE,
  club_id INTEGER NOT NULL REFERENCES clubs (id) ON DELETE CASCADE,
  nickname TEXT,
  position INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX members_by_nickname ON members (club_id, nickname COLLATE NOCASE);
CREATE UNIQUE INDEX members_by_position ON members (club_id, position);
CREATE INDEX members_by_any_nickname ON members (nickname COLLATE NOCASE, seq);

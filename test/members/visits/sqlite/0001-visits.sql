CREATE TABLE visits (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  member TEXT NOT NULL REFERENCES members (email)
) STRICT;

CREATE INDEX visits_by_member ON visits (member);

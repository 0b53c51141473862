CREATE TABLE stations (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  changed_at text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL UNIQUE,
  region text COLLATE "C" NOT NULL,
  height double precision
);
CREATE INDEX stations_by_region ON stations (region, seq);

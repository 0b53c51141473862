-- Whoever adds pets takes a turn, from before their ids are given until they are committed. So ids become visible in their order,
-- and a page that ends with one id never lacks a lower one that is committed later.
CREATE FUNCTION take_turn() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(TG_RELID::bigint);
  -- A pet that was answered for is on disk, also where the database was set up for less.
  IF current_setting('synchronous_commit') IN ('off', 'local') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER take_turn BEFORE INSERT ON pets FOR EACH STATEMENT EXECUTE FUNCTION take_turn();

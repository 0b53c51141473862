-- As `100/s`, or `none`; NULL for the rate that servers are configured with.
ALTER TABLE api_keys ADD COLUMN rate TEXT;

-- Separated by spaces; NULL for all.
ALTER TABLE api_keys ADD COLUMN scopes text;

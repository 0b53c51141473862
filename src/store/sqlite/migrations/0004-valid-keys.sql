-- Servers read the keys that are valid again and again, however many were ever made.
CREATE INDEX unrevoked_keys ON api_keys (expires_at) WHERE revoked_at IS NULL;

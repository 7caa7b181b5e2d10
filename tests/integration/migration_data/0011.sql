-- What a bot of revision 0011 had kept when the next revision came.
INSERT INTO subscriptions (channel_id, repository, source, topics, branch, except_logins, created_by, created_at, style, digest)
  VALUES ('C9', 'acme/site', 'command', '["merge"]', '["main","release/*"]', '[]', 'U1', 1772368950000000, 'digest', '09:00 Europe/Paris');
INSERT INTO channel_defaults VALUES ('C9', 'acme/site');

-- What a bot of revision 0022 had kept when the next revision came.
INSERT INTO stalenesses (repositories, since, ended_at, told_at, read_again) VALUES ('["acme/site","acme/api"]', 1772368845123456, NULL, 1772368905123456, '{"acme/api":"2026-03-01T12:42:45.123456+00:00"}');

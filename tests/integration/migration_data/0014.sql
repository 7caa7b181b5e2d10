-- What a bot of revision 0014 had kept when the next revision came.
INSERT INTO stalenesses (repositories, since, ended_at) VALUES ('["acme/site"]', 1772368845123456, NULL);

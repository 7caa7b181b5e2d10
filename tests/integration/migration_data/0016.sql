-- What a bot of revision 0016 had kept when the next revision came.
INSERT INTO alerts (repository, kind, value, threshold, began_at, pull_request, batch, ended_at)
VALUES ('acme/site', 'head', 5460, 5400, 1772368845123456, 4180, NULL, NULL);
INSERT INTO failure_streaks VALUES ('acme/site', 3, 4180);

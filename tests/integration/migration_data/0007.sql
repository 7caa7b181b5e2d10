-- What a bot of revision 0007 had kept when the next revision came.
INSERT INTO pause_timers VALUES ('acme/site', 1772368845123456, 1772372445123456, 1772372445123456, 'U0ALICE', 'alice', 'C0MERGEQ', 'running', 0);
INSERT INTO pause_timers VALUES ('acme/api', 1772368845123456, 1772372445123456, 1772372445123456, 'U0BOB', 'bob', NULL, 'fired', 2);

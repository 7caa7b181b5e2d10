-- What a bot of revision 0005 had kept when the next revision came.
INSERT INTO polls VALUES ('acme/site', 1772368845123456);
INSERT INTO accounts VALUES ('U0ALICE', 'alice-m', 1772368845123456);

-- What a bot of revision 0013 had kept when the next revision came.
INSERT INTO stays VALUES ('acme/site', '4180-9001', 4180, 's-1', 1772368845123456, 1772368845123456, true, NULL);

-- What a bot of revision 0017 had kept when the next revision came.
INSERT INTO bisections VALUES ('acme/site', '9001', 'b-1', '[41, 42]', 1772368845123456, 9001, NULL);

-- What a bot of revision 0009 had kept when the next revision came.
INSERT INTO events VALUES ('acme/site', 9001, 1772368845123456, 'command.dequeue', 4180, 'main', NULL, '{"actor":"bob"}', true);

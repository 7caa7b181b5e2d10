-- What a bot of revision 0002 had kept when the next revision came.
INSERT INTO seen_requests VALUES ('8c4b1f', 1772368845123456);
INSERT INTO seen_requests VALUES ('e3b0c4', 1772458245123456);

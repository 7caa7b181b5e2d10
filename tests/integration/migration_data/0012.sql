-- What a bot of revision 0012 had kept when the next revision came.
INSERT INTO workers VALUES ('host:7:0a1b2c3d', 1772368950000000);

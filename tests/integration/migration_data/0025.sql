-- What a bot of revision 0025 had kept when the next revision came.
INSERT INTO clock_jumps (at, seconds) VALUES (1772368945123456, -3600);

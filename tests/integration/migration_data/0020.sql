-- What a bot of revision 0020 had kept when the next revision came.
INSERT INTO notice_choices VALUES ('U2', 'failures', TRUE, 1772368950000000);
INSERT INTO notice_choices VALUES ('U2', 'merges', TRUE, 1772368950000000);

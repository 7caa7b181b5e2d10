-- What a bot of revision 0019 had kept when the next revision came.
INSERT INTO notice_choices VALUES ('U1', 'mentions', FALSE, 1772368950000000);
INSERT INTO notice_choices VALUES ('U1', 'reminders', TRUE, 1772368950000000);

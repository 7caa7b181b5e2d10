-- What a bot of revision 0008 had kept when the next revision came.
INSERT INTO pause_reminders VALUES (7, 1772372445123456, 2);

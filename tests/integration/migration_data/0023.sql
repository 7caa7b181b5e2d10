-- What a bot of revision 0023 had kept when the next revision came.
INSERT INTO polls (repository, polled_at, types) VALUES ('acme/polled', 1772368845123456, '["action.queue.enter","queue.pause.create"]');

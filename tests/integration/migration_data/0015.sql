-- What a bot of revision 0015 had kept when the next revision came.
INSERT INTO boards (channel_id, repository, made_by, made_at, ended_at, ended_by) VALUES ('C0MERGEQ', 'acme/site', 'alice', 1772368845123456, NULL, NULL);
INSERT INTO board_sights (repository, picture, read_at, outage, out_since) VALUES ('acme/site', '{"pause":null,"batches":[],"batch_count":0,"in_batches":0,"due_at":null,"next_up":[],"behind":[],"waiting":0}', 1772368845123456, NULL, NULL);

-- What a bot of revision 0021 had kept when the next revision came.
INSERT INTO deliveries (delivery_id, channel_id, line, sequence, subject_kind, repository, subject_id, created_at, due_at, state, attempts, attempted_at, looks, message_ts, error, settled_at)
  VALUES ('d0', 'C1', 'C1', 0, 'event', 'acme/site', 9001, 1772368100000000, 1772368100000000, 'delivered', 1, 1772368100000000, 0, '1772368100.000100', NULL, 1772368101000000);

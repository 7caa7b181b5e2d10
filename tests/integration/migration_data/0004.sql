-- What a bot of revision 0004 had kept when the next revision came.
INSERT INTO pauses (pause_id, repository, paused_at, is_exact, stored_reason, reason, by_id, by_name, event_id, previous_reason, queued_at_start, queued_now, joined, ended_at, ended_by_id, ended_by_name, ending, end_told)
VALUES (1, 'acme/site', 1772368245123456, TRUE, 'deploying 4.2 (by Ada via Slack)', 'deploying 4.2', 'U1', 'Ada', NULL, NULL, 3, 5, '[44,45]', NULL, NULL, NULL, NULL, FALSE);
INSERT INTO pauses (pause_id, repository, paused_at, is_exact, stored_reason, reason, by_id, by_name, event_id, previous_reason, queued_at_start, queued_now, joined, ended_at, ended_by_id, ended_by_name, ending, end_told)
VALUES (2, 'acme/shop', 1772368000000000, FALSE, 'night', 'night', NULL, 'carol', 91, 'day', NULL, NULL, '[]', 1772368300000000, NULL, 'dave', 'lifted', TRUE);
INSERT INTO cards (card_id, kind, repository, key, channel_id, generation, message_ts, wanted, shown, due_at, failures, closed, is_lost, created_at, changed_at)
VALUES (1, 'pause', 'acme/site', '1', 'C1', 1, '1772368246.000100', 2, 1, 1772368300000000, 0, FALSE, FALSE, 1772368245123456, 1772368300000000);
INSERT INTO resume_watchers VALUES (1, 'U2');

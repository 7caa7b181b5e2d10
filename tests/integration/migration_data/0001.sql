-- What a bot of revision 0001 had kept when the next revision came.
INSERT INTO leases VALUES ('poll:acme/site', 'worker-1', 4, 1772368245123456);
INSERT INTO positions VALUES ('acme/site', 1772368215000000, 1772368245123456, 1772368100000000, 1772371845123456, 'opaque==', 1772368244000000);
INSERT INTO positions VALUES ('acme/shop', 1772368215000000, 1772368215000000, NULL, NULL, NULL, NULL);
INSERT INTO events (repository, event_id, received_at, type, pull_request, base_ref, session_id, details, routed)
  VALUES ('acme/site', 1, 1772368240000000, 'action.queue.enter', 41, 'main', NULL, '{"queue_name":"default"}', TRUE);
INSERT INTO events (repository, event_id, received_at, type, pull_request, base_ref, session_id, details)
  VALUES ('acme/site', 2, 1772368241000001, 'action.queue.leave', 41, 'main', 's-1', '{"queue_name":"default","reason":"merged \u00e9"}');
INSERT INTO pull_requests VALUES ('acme/site', 41, 'Add search', 'https://code.example/acme/site/pull/41', 'ada', 1772368240000000);
INSERT INTO destinations VALUES ('C1', 4, 2, 1772368300000000, NULL, NULL, NULL);
INSERT INTO destinations VALUES ('C2', 2, 1, 1772368900000000, 'is_archived', 1772368300000000, 1772368900000000);
INSERT INTO deliveries (delivery_id, channel_id, line, sequence, subject_kind, repository, subject_id, created_at, due_at, state, attempts, attempted_at, looks, message_ts, error, settled_at)
  VALUES ('d1', 'C1', 'C1', 1, 'event', 'acme/site', 1, 1772368241000000, 1772368241000000, 'delivered', 1, 1772368242000000, 0, '1772368242.000100', NULL, 1772368243000000);
INSERT INTO deliveries (delivery_id, channel_id, line, sequence, subject_kind, repository, subject_id, created_at, due_at, state, attempts, attempted_at, looks, message_ts, error, settled_at)
  VALUES ('d2', 'C1', 'C1', 2, 'act', 'acme/site', 1, 1772368242000000, 1772368300000000, 'in_doubt', 2, 1772368250000000, 1, NULL, 'timeout', NULL);
INSERT INTO deliveries (delivery_id, channel_id, line, sequence, subject_kind, repository, subject_id, created_at, due_at, state, attempts, attempted_at, looks, message_ts, error, settled_at)
  VALUES ('d3', 'C1', 'C1', 3, 'event', 'acme/site', 2, 1772368243000000, 1772368243000000, 'pending', 0, NULL, 0, NULL, NULL, NULL);
INSERT INTO deliveries (delivery_id, channel_id, line, sequence, subject_kind, repository, subject_id, created_at, due_at, state, attempts, attempted_at, looks, message_ts, error, settled_at)
  VALUES ('d4', 'C2', 'C2', 1, 'event', 'acme/site', 1, 1772368243000000, 1772368243000000, 'pending', 1, NULL, 0, NULL, 'is_archived', NULL);
INSERT INTO subscriptions VALUES ('C1', 'acme/site', 'command', '["failure","merge"]', 'release/*', '["renovate[bot]"]', 'U1', 1772368200000000);
INSERT INTO subscriptions VALUES ('C2', 'acme/site', 'configuration', '["enter"]', NULL, '[]', NULL, NULL);
INSERT INTO audit (act_id, at, user_id, user_name, team_id, action, origin, repository, result, channel_id, reason, stored_reason, paused_at)
  VALUES (0, 1772368230000000, 'U1', 'Ada', 'T1', 'pause', 'command', 'acme/site', 'done', 'C1', 'deploying 4.2', 'deploying 4.2 (Ada)', 1772368231000000);

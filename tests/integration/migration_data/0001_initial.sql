-- At least one row of every table, as a bot of revision 0001_initial stores them.
INSERT INTO repositories (repository, origin, watermark, walk, polled_at, polled_types)
  VALUES ('acme/site', 1772368215000000, 1772368245123456, '{"window":{"received_from":"2026-03-01T12:28:20Z","received_to":"2026-03-01T13:30:45.123456Z"},"cursor":"opaque==","newest":"2026-03-01T12:30:44Z"}', 1772368845123456, '["action.queue.enter","queue.pause.create"]'),
         ('acme/shop', 1772368215000000, 1772368215000000, NULL, NULL, NULL);
INSERT INTO failures_in_a_row (repository, pull_requests) VALUES ('acme/site', '[39,40,41]');
INSERT INTO board_states (repository, picture, read_at) VALUES ('acme/site', '{"pause":null,"batches":[],"batch_count":0,"in_batches":0,"due_at":null,"next_up":[],"behind":[],"waiting":0}', 1772368845123456);
INSERT INTO events (repository, event_id, received_at, type, pull_request, base_ref, session_id, details, routed)
  VALUES ('acme/site', 1, 1772368240000000, 'action.queue.enter', 41, 'main', NULL, '{"queue_name":"default"}', TRUE),
         ('acme/site', 2, 1772368241000001, 'action.queue.leave', 41, 'main', 's-1', '{"queue_name":"default","reason":"merged \u00e9"}', FALSE);
INSERT INTO queue_entries (repository, key, pull_request, session_id, began_at, last_at, entered, ended_at)
  VALUES ('acme/site', '41-1', 41, 's-1', 1772368240000000, 1772368241000001, TRUE, NULL);
INSERT INTO bisections (repository, key, batch_id, pull_requests, last_at, latest_event_id)
  VALUES ('acme/site', '9001', 'b-1', '[41,42]', 1772368845123456, 9001);
INSERT INTO pull_requests (repository, number, title, url, author, author_folded, seen_at)
  VALUES ('acme/site', 41, 'Add search', 'https://code.example/acme/site/pull/41', 'Ada', 'ada', 1772368240000000);

INSERT INTO channel_queues (queue, next_sequence, head_sequence, claimable_at, suspended_code, suspended_at, retry_at)
  VALUES ('C1', 4, 2, 1772368300000000, NULL, NULL, NULL),
         ('C2', 2, 1, 1772368900000000, 'is_archived', 1772368300000000, 1772368900000000);
INSERT INTO channel_defaults (channel_id, repository) VALUES ('C9', 'acme/site');
INSERT INTO deliveries (delivery_id, channel_id, queue, sequence, subject_kind, repository, subject_id, created_at, due_at, state, attempts, attempted_at, lookups, message_ts, error, settled_at, failures, kind, summarizes, summarized_by, root_id)
  VALUES ('d1', 'C1', 'C1', 1, 'event', 'acme/site', 1, 1772368241000000, 1772368241000000, 'delivered', 1, 1772368242000000, 0, '1772368242.000100', NULL, 1772368243000000, 0, 'enter', 0, NULL, NULL),
         ('d2', 'C1', 'C1', 2, 'act', 'acme/site', 1, 1772368242000000, 1772368300000000, 'in_doubt', 2, 1772368250000000, 1, NULL, 'timeout', NULL, 1, NULL, 0, NULL, NULL),
         ('d3', 'C1', 'C1', 3, 'event', 'acme/site', 2, 1772368243000000, 1772368243000000, 'pending', 0, NULL, 0, NULL, NULL, NULL, 0, 'merge', 0, NULL, 1),
         ('d4', 'C2', 'C2', 1, 'event', 'acme/site', 1, 1772368243000000, 1772368243000000, 'pending', 1, NULL, 0, NULL, 'is_archived', NULL, 1, NULL, 0, NULL, NULL);
INSERT INTO live_messages (kind, repository, key, channel_id, is_second, message_ts, wanted, shown, content_hash, priority, due_at, failures, closed, is_lost, created_at, changed_at)
  VALUES ('pause', 'acme/site', '1', 'C1', FALSE, '1772368246.000100', 2, 1, NULL, 0, 1772368300000000, 0, FALSE, FALSE, 1772368245123456, 1772368300000000),
         ('board', 'acme/site', '1', 'C1', FALSE, NULL, 1, 0, NULL, 2, 1772368845123456, 0, FALSE, FALSE, 1772368845123456, 1772368845123456);
INSERT INTO boards (repository, channel_id, made_by, made_at) VALUES ('acme/site', 'C1', 'alice', 1772368845123456);

INSERT INTO pauses (repository, paused_at, stored_reason, reason, by, event_id, previous_reason, queued_at_start, queued_now, waited, stopped, ended_at, ended_by, ending, end_notified, group_act_id, timer, timer_due_at, reminders)
  VALUES ('acme/site', 1772368245123456, 'deploying 4.2 (by Ada via Slack)', 'deploying 4.2', '{"name":"Ada","user_id":"U1"}', NULL, NULL, 3, 5, '[44,45]', '["41"]', NULL, NULL, NULL, FALSE, 1, '{"resumes_at":"2026-03-01T13:40:45.123456Z","due_at":"2026-03-01T13:40:45.123456Z","set_by":{"name":"Ada","user_id":"U1"},"stored_reason":"deploying 4.2 (by Ada via Slack)","channel_id":"C1"}', 1772372445123456, '{"next_at":"2026-03-01T13:40:45.123456Z","sent":2}'),
         ('acme/shop', 1772368000000000, 'night', 'night', '{"user_id":"","name":"carol"}', 91, 'day', NULL, NULL, '[]', '[]', 1772368300000000, '{"user_id":"","name":"dave"}', 'resumed', TRUE, 0, NULL, NULL, NULL);
INSERT INTO freezes (repository, first_id, set_id, group_act_id, set_at, terms, stage, by, begins_at, ends_at)
  VALUES ('acme/site', 92, 92, 0, 1772368000000000, '{"reason":"release week","start":"2026-03-02T08:00:00","timezone":"Europe/Paris","matching_conditions":["base=main"]}', 'planned', 'carol', 1772434800000000, NULL);
INSERT INTO revisions (repository, revision) VALUES ('acme/site', 3);
INSERT INTO pause_ends (pause_id, ended_at, ended_by, ending)
  VALUES (2, 1772368300000000, '{"user_id":"","name":"dave"}', 'resumed');
INSERT INTO window_occurrences (repository, "window", begins_at, ends_at, state, act_id, freeze_id, is_failure_posted)
  VALUES ('acme/site', 'night', 1772434800000000, 1772442000000000, 'frozen', 1, '8f3c1f5e-0d0b-4a55-9a54-0d8a3c0f9d11', FALSE);
INSERT INTO pause_lines (pause_id, paused_at, stored_reason, reason, by, event_id, group_act_id)
  VALUES (2, 1772367900000000, 'day', 'day', '{"user_id":"","name":"eve"}', 90, 0);
INSERT INTO resume_watchers (pause_id, user_id) VALUES (1, 'U2');
INSERT INTO group_acts ("group", action, at, actor, origin, repositories, channel_id, asked, notified_together, results, ended_at, resumes_at)
  VALUES ('release', 'pause', 1772368950000000, '{"user_id":"U1","name":"Ada","team_id":"T1"}', 'command', '["acme/site"]', 'C1', '{"reason":"freeze","lasting":{"length":"PT1H"}}', '["C1"]', '[{"repository":"acme/site","outcome":"changed"}]', 1772368951000000, 1772372550000000);

INSERT INTO subscriptions (channel_id, repository, source, topics, branches, except_logins, created_by, created_at, style, digest)
  VALUES ('C1', 'acme/site', 'command', '["failure","merge"]', '["release/*"]', '["renovate[bot]"]', 'U1', 1772368200000000, 'thread', NULL),
         ('C2', 'acme/site', 'configuration', '["enter"]', '[]', '[]', NULL, NULL, 'thread', NULL),
         ('C9', 'acme/site', 'command', '["merge"]', '["main","release/*"]', '[]', 'U1', 1772368950000000, 'digest', '{"at":"09:00:00","zone":"Europe/Paris"}');
INSERT INTO followed (channel_id, selection, actor, created_at, topics, branches, except_logins, left_out, style, digest)
  VALUES ('C1', '@release', '{"name":"Ada","user_id":"U1"}', 1772368200000000, '["merge"]', '[]', '[]', '["acme/shop"]', 'thread', NULL);
INSERT INTO audit (act_id, times, at, actor, action, origin, repository, result, channel_id, reason, stored_reason, paused_at, previous_reason, previous_paused_at, detail, answer, setting_before, setting_after, group_act_id, "group", resumes_at)
  VALUES (0, 1, 1772368230000000, '{"user_id":"U1","name":"Ada","team_id":"T1"}', 'pause', 'command', 'acme/site', 'done', 'C1', 'deploying 4.2', 'deploying 4.2 (Ada)', 1772368231000000, NULL, NULL, NULL, NULL, NULL, NULL, 1, 'release', 1772372550000000),
         (0, 1, 1772368930000000, '{"user_id":"U2","name":"Bob","team_id":"T1"}', 'subscribe', 'command', 'acme/site', 'done', 'C1', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '', 'enter merge', 0, NULL, NULL);
INSERT INTO people (user_id, login, linked_at, choices)
  VALUES ('U1', 'ada', 1772368845123456, '{"failures":true,"mentions":false}');

INSERT INTO alerts (repository, kind, value, threshold, began_at, pull_request)
  VALUES ('acme/site', 'head', 5460, 5400, 1772368845123456, 41);
INSERT INTO alert_causes (alert_id, repository, verdict, said, found_at)
  VALUES (1, 'acme/site', 'hangs', 'the checks of #41 take far longer than usual', 1772368845123456);
INSERT INTO outages (repositories, recovered, began_at, notified_at)
  VALUES ('["acme/site","acme/shop"]', '{"acme/shop":"2026-03-01T12:42:45.123456+00:00"}', 1772368845123456, 1772368905123456);
INSERT INTO slack_outages (began_at) VALUES (1772368845123456);
INSERT INTO leases (name, holder, token, expires_at) VALUES ('poll', 'worker-1', 4, 1772368245123456);
INSERT INTO unanswered (request, user_id, channel_id, typed, repeat, was_left, asked_at, due_at)
  VALUES ('8c4b1f', 'U1', 'C1', 'pause now deploying 4.2', NULL, FALSE, 1772368245123456, 1772368260123456);
INSERT INTO handled_requests (request, until) VALUES ('8c4b1f', 1772368845123456), ('e3b0c4', 1772458245123456);
INSERT INTO slack_limits (name, met_at, until) VALUES ('chat.postMessage C1', 1772368950000000, 4102444800000000);
INSERT INTO paces (name, free_at) VALUES ('requests U1', 1772368845123456);
INSERT INTO channel_sharings (channel_id, is_shared, until) VALUES ('C1', TRUE, 1772368845123456);
INSERT INTO clock_jumps (at, seconds) VALUES (1772368945123456, -3600);
INSERT INTO process_connections (process, kept, counted, until) VALUES ('host:7:0a1b2c3d', 2, 3, 4102444800000000);
INSERT INTO pending_restarts (setting, until) VALUES ('DATABASE_URL', 4102444800000000);
INSERT INTO questions (user_id, channel_id, verb, typed, until, message) VALUES ('U1', 'C1', 'pause', 'pause 1h', 4102444800000000, 1772368945123456);
INSERT INTO muted_pull_requests (user_id, repository, pull_request, until) VALUES ('U1', 'acme/site', 41, 4102444800000000);
INSERT INTO bot_logins (word) VALUES ('*-bot');
INSERT INTO service_features (feature) VALUES ('freezes');
INSERT INTO write_checks (name, written_at) VALUES ('mqbot check', 1772368945123456);
INSERT INTO storms (repository, key, began_at, last_at, ended_at, ending) VALUES ('acme/site', '1', 1772368245123456, 1772368945123456, NULL, NULL);

-- What a bot of revision 0006 had kept when the next revision came.
INSERT INTO group_acts ("group", action, at, user_id, user_name, team_id, origin, repositories, channel_id, asked, told_together, results, ended_at)
  VALUES ('release', 'pause', 1772368950000000, 'U1', 'Ada', 'T1', 'command', '["acme/site"]', 'C1', 'freeze', '["C1"]', '[["acme/site","changed",null,null]]', 1772368951000000);
INSERT INTO group_pauses VALUES ('release', 'acme/site', 1, 'freeze (by Ada via Slack)', 1772368950000000, 1772368950500000);

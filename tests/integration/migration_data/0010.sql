-- What a bot of revision 0010 had kept when the next revision came.
INSERT INTO group_acts ("group", action, at, user_id, user_name, team_id, origin, repositories, channel_id, asked, told_together, results, ended_at, lifts_at)
  VALUES ('release', 'unpause', 1772372550000000, 'U1', 'Ada', 'T1', 'timer', '["acme/site"]', 'C1', '1h freeze', '["C1"]', '[["acme/site","changed",null,null]]', 1772372551000000, 1772372550000000);
UPDATE pauses SET group_act_id = 1 WHERE pause_id = 1;

-- What a bot of revision 0003 had kept when the next revision came.
INSERT INTO audit (act_id, at, user_id, user_name, team_id, action, origin, repository, result, channel_id, answer, heard_before, heard_after)
  VALUES (0, 1772368930000000, 'U2', 'Bob', 'T1', 'subscribe', 'command', 'acme/site', 'done', 'C1', NULL, '', 'enter merge');
INSERT INTO audit (act_id, at, user_id, user_name, team_id, action, origin, repository, result, channel_id, reason, stored_reason, answer)
  VALUES (0, 1772368940000000, 'U2', 'Bob', 'T1', 'pause', 'button', 'acme/site', 'refused', 'C1', 'freeze', 'freeze (Bob)', '409 conflict: busy');

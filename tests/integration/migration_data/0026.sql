-- What a bot of revision 0026 had kept when the next revision came.
INSERT INTO audit (act_id, at, user_id, user_name, action, origin, repository, result, group_act_id, detail) VALUES (0, 1772368955000000, 'U9', 'guy', 'pause', 'shortcut', 'acme/site', 'refused', 0, 'pause: guest (and 120 more repositories)');

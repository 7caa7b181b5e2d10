-- What a bot of revision 0018 had kept when the next revision came.
INSERT INTO slack_limits VALUES ('chat.postMessage', 1772368950000000);

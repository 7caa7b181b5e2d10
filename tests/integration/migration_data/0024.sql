-- What a bot of revision 0024 had kept when the next revision came.
INSERT INTO slack_limits (method, closed_until, met_at) VALUES ('chat.postMessage C1', 1772368955000000, 1772368950000000);

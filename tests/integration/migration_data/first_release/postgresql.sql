-- The schema of revision 0001_initial. It changes until the first release, then never.
-- `python -m tests.documentation` writes it.
CREATE TABLE alert_causes (
    cause_id BIGSERIAL NOT NULL,
    alert_id BIGINT NOT NULL,
    repository TEXT NOT NULL,
    verdict TEXT NOT NULL,
    said TEXT NOT NULL,
    found_at BIGINT NOT NULL,
    CONSTRAINT pk_alert_causes PRIMARY KEY (cause_id),
    CONSTRAINT uq_alert_causes_alert_id_verdict UNIQUE (alert_id, verdict)
);
COMMENT ON TABLE alert_causes IS 'A cause that the thread of one alert has named; each is named once.';
CREATE INDEX ix_alert_causes_found_at ON alert_causes (found_at);
CREATE TABLE alerts (
    alert_id BIGSERIAL NOT NULL,
    repository TEXT NOT NULL,
    kind TEXT NOT NULL,
    began_at BIGINT NOT NULL,
    ended_at BIGINT,
    value BIGINT NOT NULL,
    threshold BIGINT NOT NULL,
    pull_request BIGINT,
    batch TEXT,
    cause TEXT,
    evidence TEXT,
    verdict TEXT,
    mention TEXT,
    CONSTRAINT pk_alerts PRIMARY KEY (alert_id)
);
COMMENT ON TABLE alerts IS 'One alert about the health of one queue, active or over.';
CREATE INDEX ix_alerts_ended_at ON alerts (ended_at);
CREATE UNIQUE INDEX ix_alerts_repository_kind ON alerts (repository, kind) WHERE ended_at IS NULL;
CREATE TABLE audit (
    record_id BIGSERIAL NOT NULL,
    act_id BIGINT NOT NULL,
    group_act_id BIGINT NOT NULL,
    times BIGINT NOT NULL,
    at BIGINT NOT NULL,
    actor TEXT NOT NULL,
    channel_id TEXT,
    "group" TEXT,
    action TEXT NOT NULL,
    origin TEXT NOT NULL,
    repository TEXT NOT NULL,
    result TEXT NOT NULL,
    reason TEXT,
    stored_reason TEXT,
    previous_reason TEXT,
    detail TEXT,
    answer TEXT,
    circumstance TEXT,
    setting_before TEXT,
    setting_after TEXT,
    evidence TEXT,
    confirmation TEXT,
    freezes TEXT,
    service_at BIGINT,
    paused_at BIGINT,
    previous_paused_at BIGINT,
    resumes_at BIGINT,
    pull_request BIGINT,
    request TEXT,
    CONSTRAINT pk_audit PRIMARY KEY (record_id)
);
COMMENT ON TABLE audit IS 'One act of a person, or its refusal. Only old or repeated refusals are ever deleted.';
CREATE INDEX ix_audit_act_id ON audit (act_id) WHERE act_id > 0;
CREATE INDEX ix_audit_at ON audit (at);
CREATE INDEX ix_audit_repository_action_at ON audit (repository, action, at);
CREATE INDEX ix_audit_repository_at ON audit (repository, at);
CREATE INDEX ix_audit_repository_result_at ON audit (repository, result, at);
CREATE INDEX ix_audit_request ON audit (request) WHERE request IS NOT NULL;
CREATE INDEX ix_audit_result_at ON audit (result, at);
CREATE TABLE bisections (
    repository TEXT NOT NULL,
    key TEXT NOT NULL,
    batch_id TEXT,
    pull_requests TEXT NOT NULL,
    last_at BIGINT NOT NULL,
    latest_event_id BIGINT NOT NULL,
    ended_at BIGINT,
    CONSTRAINT pk_bisections PRIMARY KEY (repository, key)
);
COMMENT ON TABLE bisections IS 'The search for the pull request that broke one batch, which threads are about.';
CREATE INDEX ix_bisections_last_at ON bisections (last_at);
CREATE INDEX ix_bisections_repository_last_at ON bisections (repository, last_at);
CREATE TABLE board_states (
    repository TEXT NOT NULL,
    picture TEXT NOT NULL,
    read_at BIGINT NOT NULL,
    unread TEXT,
    CONSTRAINT pk_board_states PRIMARY KEY (repository)
);
COMMENT ON TABLE board_states IS 'What the boards of one repository show.';
CREATE TABLE boards (
    board_id BIGSERIAL NOT NULL,
    repository TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    made_by TEXT NOT NULL,
    made_at BIGINT NOT NULL,
    ended_at BIGINT,
    ended_by TEXT,
    CONSTRAINT pk_boards PRIMARY KEY (board_id)
);
COMMENT ON TABLE boards IS 'One message in a channel that shows one repository''s live queue until it ends.';
CREATE INDEX ix_boards_ended_at ON boards (ended_at);
CREATE UNIQUE INDEX ix_boards_repository_channel_id ON boards (repository, channel_id) WHERE ended_at IS NULL;
CREATE TABLE bot_logins (
    word TEXT NOT NULL,
    CONSTRAINT pk_bot_logins PRIMARY KEY (word)
);
COMMENT ON TABLE bot_logins IS 'One word of the setting that says which logins belong to programs.';
CREATE TABLE channel_defaults (
    channel_id TEXT NOT NULL,
    repository TEXT NOT NULL,
    CONSTRAINT pk_channel_defaults PRIMARY KEY (channel_id)
);
COMMENT ON TABLE channel_defaults IS 'The repository that is meant in one channel when none is typed.';
CREATE TABLE channel_queues (
    queue TEXT NOT NULL,
    next_sequence BIGINT NOT NULL,
    head_sequence BIGINT NOT NULL,
    claimable_at BIGINT,
    suspended_at BIGINT,
    retry_at BIGINT,
    suspended_code TEXT,
    CONSTRAINT pk_channel_queues PRIMARY KEY (queue),
    CONSTRAINT ck_channel_queues_suspended_whole CHECK ((suspended_at IS NULL) = (retry_at IS NULL) AND (suspended_at IS NULL) = (suspended_code IS NULL))
);
COMMENT ON TABLE channel_queues IS 'One queue of posts to one channel: ordinary, urgent, or for its digest.';
CREATE INDEX ix_channel_queues_claimable_at_queue ON channel_queues (claimable_at, queue);
CREATE TABLE channel_sharings (
    channel_id TEXT NOT NULL,
    is_shared BOOLEAN NOT NULL,
    until BIGINT NOT NULL,
    CONSTRAINT pk_channel_sharings PRIMARY KEY (channel_id)
);
COMMENT ON TABLE channel_sharings IS 'What Slack said last of one channel: that it is shared with others, or not any more.';
CREATE INDEX ix_channel_sharings_until ON channel_sharings (until);
CREATE TABLE clock_jumps (
    at BIGINT NOT NULL,
    seconds BIGINT NOT NULL,
    CONSTRAINT pk_clock_jumps PRIMARY KEY (at)
);
COMMENT ON TABLE clock_jumps IS 'One jump of a process''s clock: to which time, and by how many seconds, negative if back.';
CREATE TABLE events (
    repository TEXT NOT NULL,
    event_id BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    type TEXT NOT NULL,
    pull_request BIGINT,
    base_ref TEXT,
    session_id TEXT,
    details TEXT NOT NULL,
    routed BOOLEAN NOT NULL,
    CONSTRAINT pk_events PRIMARY KEY (repository, event_id)
);
COMMENT ON TABLE events IS 'One event of a repository''s event log.';
CREATE INDEX ix_events_received_at ON events (received_at);
CREATE INDEX ix_events_repository_base_ref_received_at ON events (repository, base_ref, received_at) WHERE type = 'action.queue.merged';
CREATE INDEX ix_events_repository_pull_request_received_at ON events (repository, pull_request, received_at);
CREATE INDEX ix_events_repository_received_at_event_id ON events (repository, received_at, event_id) WHERE NOT routed;
CREATE INDEX ix_events_repository_type_received_at ON events (repository, type, received_at);
CREATE TABLE failures_in_a_row (
    repository TEXT NOT NULL,
    pull_requests TEXT NOT NULL,
    CONSTRAINT pk_failures_in_a_row PRIMARY KEY (repository)
);
COMMENT ON TABLE failures_in_a_row IS 'The pull requests that left one queue on failures since its last merge.';
CREATE TABLE followed (
    channel_id TEXT NOT NULL,
    selection TEXT NOT NULL,
    actor TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    topics TEXT NOT NULL,
    branches TEXT NOT NULL,
    except_logins TEXT NOT NULL,
    left_out TEXT NOT NULL,
    style TEXT NOT NULL,
    digest TEXT,
    CONSTRAINT pk_followed PRIMARY KEY (channel_id, selection)
);
COMMENT ON TABLE followed IS 'One channel''s subscription to all repositories, a group''s or an owner''s, as they change.';
CREATE TABLE freezes (
    row_id BIGSERIAL NOT NULL,
    repository TEXT NOT NULL,
    freeze_id TEXT,
    first_id BIGINT NOT NULL,
    set_id BIGINT NOT NULL,
    group_act_id BIGINT NOT NULL,
    set_at BIGINT NOT NULL,
    terms TEXT NOT NULL,
    stage TEXT NOT NULL,
    before TEXT,
    begins_at BIGINT,
    ends_at BIGINT,
    over_at BIGINT,
    due_at BIGINT,
    by TEXT,
    removed_by TEXT,
    removed_for TEXT,
    queued BIGINT,
    CONSTRAINT pk_freezes PRIMARY KEY (row_id)
);
COMMENT ON TABLE freezes IS 'One scheduled freeze: planned, in force or over.';
CREATE INDEX ix_freezes_due_at ON freezes (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX ix_freezes_group_act_id ON freezes (group_act_id) WHERE group_act_id != 0;
CREATE INDEX ix_freezes_repository ON freezes (repository) WHERE over_at IS NULL;
CREATE UNIQUE INDEX ix_freezes_repository_freeze_id ON freezes (repository, freeze_id) WHERE freeze_id IS NOT NULL;
CREATE INDEX ix_freezes_repository_set_id ON freezes (repository, set_id);
CREATE TABLE group_acts (
    group_act_id BIGSERIAL NOT NULL,
    "group" TEXT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    origin TEXT NOT NULL,
    at BIGINT NOT NULL,
    asked TEXT NOT NULL,
    channel_id TEXT,
    repositories TEXT NOT NULL,
    notified_together TEXT NOT NULL,
    results TEXT NOT NULL,
    ended_at BIGINT,
    resumes_at BIGINT,
    request TEXT,
    approved TEXT,
    CONSTRAINT pk_group_acts PRIMARY KEY (group_act_id)
);
COMMENT ON TABLE group_acts IS 'One pause or resume that a person asked for on a group of repositories.';
CREATE INDEX ix_group_acts_group_act_id ON group_acts (group_act_id) WHERE ended_at IS NULL;
CREATE INDEX ix_group_acts_group_group_act_id ON group_acts ("group", group_act_id);
CREATE INDEX ix_group_acts_request ON group_acts (request) WHERE request IS NOT NULL;
CREATE TABLE handled_requests (
    request TEXT NOT NULL,
    until BIGINT NOT NULL,
    CONSTRAINT pk_handled_requests PRIMARY KEY (request)
);
COMMENT ON TABLE handled_requests IS 'One request that a process has taken: no other takes it again.';
CREATE INDEX ix_handled_requests_until ON handled_requests (until);
CREATE TABLE leases (
    name TEXT NOT NULL,
    holder TEXT NOT NULL,
    token BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    CONSTRAINT pk_leases PRIMARY KEY (name)
);
COMMENT ON TABLE leases IS 'One thing that one process does for a time: a job, or an act on a repository.';
CREATE TABLE live_messages (
    message_id BIGSERIAL NOT NULL,
    kind TEXT NOT NULL,
    repository TEXT NOT NULL,
    key TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    is_second BOOLEAN NOT NULL,
    closed BOOLEAN NOT NULL,
    is_lost BOOLEAN NOT NULL,
    wanted BIGINT NOT NULL,
    shown BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    priority BIGINT NOT NULL,
    content_hash TEXT,
    edited_by TEXT,
    due_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    message_ts TEXT,
    CONSTRAINT pk_live_messages PRIMARY KEY (message_id),
    CONSTRAINT uq_live_messages_subject UNIQUE (kind, repository, key, channel_id)
);
COMMENT ON TABLE live_messages IS 'One message that is edited as what it shows changes: a pause, a thread, a board.';
CREATE INDEX ix_live_messages_changed_at ON live_messages (changed_at);
CREATE INDEX ix_live_messages_kind_repository_key ON live_messages (kind, repository, key) WHERE NOT closed;
CREATE INDEX ix_live_messages_message_ts ON live_messages (message_ts) WHERE message_ts IS NOT NULL;
CREATE INDEX ix_live_messages_priority_due_at ON live_messages (priority, due_at) WHERE message_ts IS NOT NULL AND NOT is_lost AND wanted > shown;
CREATE TABLE muted_pull_requests (
    user_id TEXT NOT NULL,
    repository TEXT NOT NULL,
    pull_request BIGINT NOT NULL,
    until BIGINT NOT NULL,
    CONSTRAINT pk_muted_pull_requests PRIMARY KEY (user_id, repository, pull_request)
);
COMMENT ON TABLE muted_pull_requests IS 'A pull request about which one person wants no mentions and direct messages.';
CREATE INDEX ix_muted_pull_requests_until ON muted_pull_requests (until);
CREATE TABLE outages (
    outage_id BIGSERIAL NOT NULL,
    repositories TEXT NOT NULL,
    recovered TEXT NOT NULL,
    began_at BIGINT NOT NULL,
    notified_at BIGINT,
    ended_at BIGINT,
    cause TEXT,
    said TEXT,
    CONSTRAINT pk_outages PRIMARY KEY (outage_id)
);
COMMENT ON TABLE outages IS 'One time in which event logs couldn''t be read: those that became unreadable together.';
CREATE INDEX ix_outages_ended_at ON outages (ended_at);
CREATE INDEX ix_outages_outage_id ON outages (outage_id) WHERE ended_at IS NULL;
CREATE TABLE paces (
    name TEXT NOT NULL,
    free_at BIGINT NOT NULL,
    CONSTRAINT pk_paces PRIMARY KEY (name)
);
COMMENT ON TABLE paces IS 'Whose requests, or which channel''s posts, have used up some of their pace.';
CREATE INDEX ix_paces_free_at ON paces (free_at);
CREATE TABLE pauses (
    pause_id BIGSERIAL NOT NULL,
    repository TEXT NOT NULL,
    paused_at BIGINT NOT NULL,
    stored_reason TEXT NOT NULL,
    reason TEXT NOT NULL,
    previous_reason TEXT,
    by TEXT,
    taken_over_by TEXT,
    ended_by TEXT,
    told_end_by TEXT,
    taken_over_at BIGINT,
    event_id BIGINT,
    queued_at_start BIGINT,
    queued_now BIGINT,
    waited TEXT NOT NULL,
    stopped TEXT NOT NULL,
    ended_at BIGINT,
    ending TEXT,
    end_id BIGINT,
    end_notified BOOLEAN NOT NULL,
    group_act_id BIGINT NOT NULL,
    timer TEXT,
    timer_due_at BIGINT,
    reminders TEXT,
    began_at BIGINT,
    seen_at BIGINT,
    missing_since BIGINT,
    end_seen_at BIGINT,
    told_end_at BIGINT,
    CONSTRAINT pk_pauses PRIMARY KEY (pause_id),
    CONSTRAINT uq_pauses_paused_at UNIQUE (repository, paused_at),
    CONSTRAINT ck_pauses_ended_somehow CHECK ((ended_at IS NULL) = (ending IS NULL))
);
COMMENT ON TABLE pauses IS 'One continuous time in which one queue is paused, in force or over, with its timer.';
CREATE INDEX ix_pauses_ended_at ON pauses (ended_at);
CREATE INDEX ix_pauses_ended_at_pause_id ON pauses (ended_at, pause_id) WHERE NOT end_notified;
CREATE INDEX ix_pauses_group_act_id ON pauses (group_act_id) WHERE group_act_id != 0;
CREATE UNIQUE INDEX ix_pauses_repository ON pauses (repository) WHERE ended_at IS NULL;
CREATE INDEX ix_pauses_timer_due_at ON pauses (timer_due_at) WHERE timer_due_at IS NOT NULL;
CREATE TABLE pending_restarts (
    setting TEXT NOT NULL,
    until BIGINT NOT NULL,
    CONSTRAINT pk_pending_restarts PRIMARY KEY (setting)
);
COMMENT ON TABLE pending_restarts IS 'One setting that has changed and waits for a restart.';
CREATE TABLE people (
    user_id TEXT NOT NULL,
    login TEXT,
    linked_at BIGINT,
    choices TEXT,
    CONSTRAINT pk_people PRIMARY KEY (user_id)
);
COMMENT ON TABLE people IS 'One person in Slack: their login at the code host, and the notices they chose.';
CREATE INDEX ix_people_login ON people (login);
CREATE INDEX ix_people_user_id ON people (user_id) WHERE choices IS NOT NULL;
CREATE TABLE process_connections (
    process TEXT NOT NULL,
    kept BIGINT NOT NULL,
    counted BIGINT NOT NULL,
    until BIGINT NOT NULL,
    CONSTRAINT pk_process_connections PRIMARY KEY (process)
);
COMMENT ON TABLE process_connections IS 'How many connections to Slack one process keeps, and how many of the app Slack counted.';
CREATE TABLE pull_requests (
    repository TEXT NOT NULL,
    number BIGINT NOT NULL,
    title TEXT NOT NULL,
    url TEXT NOT NULL,
    author TEXT NOT NULL,
    author_folded TEXT NOT NULL,
    seen_at BIGINT NOT NULL,
    CONSTRAINT pk_pull_requests PRIMARY KEY (repository, number)
);
COMMENT ON TABLE pull_requests IS 'What people are shown about one pull request.';
CREATE INDEX ix_pull_requests_author_folded_seen_at ON pull_requests (author_folded, seen_at);
CREATE INDEX ix_pull_requests_seen_at ON pull_requests (seen_at);
CREATE TABLE questions (
    user_id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    verb TEXT NOT NULL,
    typed TEXT NOT NULL,
    until BIGINT NOT NULL,
    message BIGINT,
    CONSTRAINT pk_questions PRIMARY KEY (user_id, channel_id, verb, typed)
);
COMMENT ON TABLE questions IS 'One open question: which queue somebody means by what they typed.';
CREATE INDEX ix_questions_until ON questions (until);
CREATE TABLE queue_entries (
    repository TEXT NOT NULL,
    key TEXT NOT NULL,
    pull_request BIGINT NOT NULL,
    session_id TEXT,
    began_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    entered BOOLEAN NOT NULL,
    ended_at BIGINT,
    CONSTRAINT pk_queue_entries PRIMARY KEY (repository, key)
);
COMMENT ON TABLE queue_entries IS 'One pull request''s time in the queue, which threads are about.';
CREATE INDEX ix_queue_entries_last_at ON queue_entries (last_at);
CREATE INDEX ix_queue_entries_repository_pull_request_last_at ON queue_entries (repository, pull_request, last_at);
CREATE TABLE repositories (
    repository TEXT NOT NULL,
    origin BIGINT,
    watermark BIGINT,
    polled_at BIGINT,
    walk TEXT,
    polled_types TEXT,
    CONSTRAINT pk_repositories PRIMARY KEY (repository)
);
COMMENT ON TABLE repositories IS 'One repository whose event log is read: how far, and when last.';
CREATE TABLE revisions (
    repository TEXT NOT NULL,
    revision BIGINT NOT NULL,
    CONSTRAINT pk_revisions PRIMARY KEY (repository)
);
COMMENT ON TABLE revisions IS 'How often what one repository''s readings rest on was stored: its pause, or an act on it.';
CREATE TABLE service_features (
    feature TEXT NOT NULL,
    CONSTRAINT pk_service_features PRIMARY KEY (feature)
);
COMMENT ON TABLE service_features IS 'One feature that the service offers, and may not offer elsewhere.';
CREATE TABLE slack_limits (
    name TEXT NOT NULL,
    met_at BIGINT NOT NULL,
    until BIGINT NOT NULL,
    CONSTRAINT pk_slack_limits PRIMARY KEY (name)
);
COMMENT ON TABLE slack_limits IS 'One method, or method and channel, that Slack has closed for a time.';
CREATE INDEX ix_slack_limits_until ON slack_limits (until);
CREATE TABLE slack_outages (
    outage_id BIGSERIAL NOT NULL,
    began_at BIGINT NOT NULL,
    ended_at BIGINT,
    late BIGINT,
    CONSTRAINT pk_slack_outages PRIMARY KEY (outage_id)
);
COMMENT ON TABLE slack_outages IS 'One time in which Slack answered no call.';
CREATE INDEX ix_slack_outages_ended_at ON slack_outages (ended_at);
CREATE INDEX ix_slack_outages_outage_id ON slack_outages (outage_id) WHERE ended_at IS NULL;
CREATE TABLE storms (
    repository TEXT NOT NULL,
    key TEXT NOT NULL,
    began_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    ended_at BIGINT,
    ending TEXT,
    branch TEXT,
    CONSTRAINT pk_storms PRIMARY KEY (repository, key)
);
COMMENT ON TABLE storms IS 'Many failures of one branch at once, which one message counts.';
CREATE INDEX ix_storms_last_at ON storms (last_at);
CREATE INDEX ix_storms_repository ON storms (repository) WHERE ended_at IS NULL;
CREATE INDEX ix_storms_repository_last_at ON storms (repository, last_at);
CREATE TABLE subscriptions (
    channel_id TEXT NOT NULL,
    repository TEXT NOT NULL,
    source TEXT NOT NULL,
    topics TEXT NOT NULL,
    branches TEXT NOT NULL,
    except_logins TEXT NOT NULL,
    created_by TEXT,
    created_at BIGINT,
    style TEXT NOT NULL,
    digest TEXT,
    through TEXT,
    CONSTRAINT pk_subscriptions PRIMARY KEY (channel_id, repository, source)
);
COMMENT ON TABLE subscriptions IS 'One channel''s subscription to one repository, by command or by the settings.';
CREATE INDEX ix_subscriptions_repository ON subscriptions (repository);
CREATE TABLE unanswered (
    number BIGSERIAL NOT NULL,
    request TEXT NOT NULL,
    user_id TEXT NOT NULL,
    channel_id TEXT,
    typed TEXT,
    repeat TEXT,
    was_left BOOLEAN NOT NULL,
    asked_at BIGINT NOT NULL,
    due_at BIGINT,
    CONSTRAINT pk_unanswered PRIMARY KEY (number),
    CONSTRAINT uq_unanswered_request UNIQUE (request)
);
COMMENT ON TABLE unanswered IS 'One request whose answer is owed: it is being carried out, or was cut off.';
CREATE INDEX ix_unanswered_due_at ON unanswered (due_at) WHERE due_at IS NOT NULL;
CREATE TABLE window_occurrences (
    repository TEXT NOT NULL,
    "window" TEXT NOT NULL,
    begins_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL,
    state TEXT NOT NULL,
    act_id BIGINT NOT NULL,
    freeze_id TEXT,
    is_failure_posted BOOLEAN NOT NULL,
    CONSTRAINT pk_window_occurrences PRIMARY KEY (repository, "window", begins_at)
);
COMMENT ON TABLE window_occurrences IS 'One time that a recurring window comes to one repository, and what became of it.';
CREATE INDEX ix_window_occurrences_ends_at ON window_occurrences (ends_at);
CREATE TABLE write_checks (
    name TEXT NOT NULL,
    written_at BIGINT NOT NULL,
    CONSTRAINT pk_write_checks PRIMARY KEY (name)
);
COMMENT ON TABLE write_checks IS 'The last check that the database can be written.';
CREATE TABLE deliveries (
    delivery_id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    queue TEXT NOT NULL,
    subject_kind TEXT NOT NULL,
    repository TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    subject_id BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    state TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    lookups BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    summarizes BIGINT NOT NULL,
    attempted_at BIGINT,
    settled_at BIGINT,
    message_ts TEXT,
    error TEXT,
    kind TEXT,
    summarized_by TEXT,
    process TEXT,
    root_id BIGINT,
    CONSTRAINT pk_deliveries PRIMARY KEY (delivery_id),
    CONSTRAINT uq_deliveries_queue_sequence UNIQUE (queue, sequence),
    CONSTRAINT uq_deliveries_subject UNIQUE (subject_kind, repository, subject_id, channel_id),
    CONSTRAINT ck_deliveries_settled_has_time CHECK ((settled_at IS NOT NULL) = (state = 'delivered' OR state = 'failed' OR state = 'summarized')),
    CONSTRAINT fk_deliveries_queue FOREIGN KEY(queue) REFERENCES channel_queues (queue)
);
COMMENT ON TABLE deliveries IS 'One post to one channel: it waits, is being sent, is in doubt, or is settled.';
CREATE INDEX ix_deliveries_message_ts ON deliveries (message_ts) WHERE message_ts IS NOT NULL;
CREATE INDEX ix_deliveries_settled_at ON deliveries (settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX ix_deliveries_state_created_at ON deliveries (state, created_at) WHERE settled_at IS NULL;
CREATE INDEX ix_deliveries_summarized_by ON deliveries (summarized_by) WHERE summarized_by IS NOT NULL;
CREATE TABLE pause_ends (
    end_id BIGSERIAL NOT NULL,
    pause_id BIGINT NOT NULL,
    ended_at BIGINT NOT NULL,
    ended_by TEXT,
    ending TEXT NOT NULL,
    CONSTRAINT pk_pause_ends PRIMARY KEY (end_id),
    CONSTRAINT fk_pause_ends_pause_id FOREIGN KEY(pause_id) REFERENCES pauses (pause_id)
);
COMMENT ON TABLE pause_ends IS 'One end of one pause, true or false, which its posts are about.';
CREATE INDEX ix_pause_ends_pause_id ON pause_ends (pause_id);
CREATE TABLE pause_lines (
    line_id BIGSERIAL NOT NULL,
    pause_id BIGINT NOT NULL,
    paused_at BIGINT NOT NULL,
    stored_reason TEXT NOT NULL,
    reason TEXT NOT NULL,
    by TEXT,
    taken_over_by TEXT,
    event_id BIGINT,
    group_act_id BIGINT NOT NULL,
    CONSTRAINT pk_pause_lines PRIMARY KEY (line_id),
    CONSTRAINT fk_pause_lines_pause_id FOREIGN KEY(pause_id) REFERENCES pauses (pause_id)
);
COMMENT ON TABLE pause_lines IS 'What one pause said before its reason was changed, and who said it.';
CREATE INDEX ix_pause_lines_pause_id ON pause_lines (pause_id);
CREATE TABLE resume_watchers (
    pause_id BIGINT NOT NULL,
    user_id TEXT NOT NULL,
    CONSTRAINT pk_resume_watchers PRIMARY KEY (pause_id, user_id),
    CONSTRAINT fk_resume_watchers_pause_id FOREIGN KEY(pause_id) REFERENCES pauses (pause_id)
);
COMMENT ON TABLE resume_watchers IS 'One person to notify, once, when one pause ends.';
CREATE FUNCTION audit_refuses_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF TG_OP = 'DELETE' AND OLD.result = 'refused' AND OLD.act_id = 0 AND OLD.circumstance IS NULL THEN RETURN OLD; END IF; RAISE EXCEPTION 'audit records are only ever added' USING ERRCODE = 'restrict_violation'; END $$;
CREATE TRIGGER audit_refuses_change BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION audit_refuses_change();
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num));
INSERT INTO alembic_version VALUES ('0001_initial');

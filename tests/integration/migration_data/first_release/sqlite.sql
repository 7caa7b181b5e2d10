-- The schema of revision 0001_initial. It changes until the first release, then never.
CREATE TABLE repositories (
    repository TEXT NOT NULL,
    origin BIGINT,
    watermark BIGINT,
    polled_at BIGINT,
    read_at BIGINT,
    walk TEXT,
    polled_types TEXT,
    failures BIGINT,
    failed_pull_request BIGINT,
    picture TEXT,
    unread TEXT,
    CONSTRAINT pk_repositories PRIMARY KEY (repository)
);
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
CREATE INDEX ix_events_repository_pull_request_received_at ON events (repository, pull_request, received_at);
CREATE INDEX ix_events_repository_received_at_event_id ON events (repository, received_at, event_id) WHERE routed = 0;
CREATE INDEX ix_events_received_at ON events (received_at);
CREATE TABLE pull_requests (
    repository TEXT NOT NULL,
    number BIGINT NOT NULL,
    title TEXT NOT NULL,
    url TEXT NOT NULL,
    author TEXT NOT NULL,
    seen_at BIGINT NOT NULL,
    CONSTRAINT pk_pull_requests PRIMARY KEY (repository, number)
);
CREATE INDEX ix_pull_requests_seen_at ON pull_requests (seen_at);
CREATE TABLE alerts (
    alert_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    repository TEXT,
    kind TEXT,
    began_at BIGINT NOT NULL,
    ended_at BIGINT,
    notified_at BIGINT,
    value BIGINT,
    threshold BIGINT,
    pull_request BIGINT,
    late BIGINT,
    batch TEXT,
    mention TEXT,
    repositories TEXT,
    recovered TEXT,
    CONSTRAINT ck_alerts_alert_or_outage CHECK ((kind IS NULL) = (repositories IS NOT NULL) AND (repository IS NOT NULL OR kind IS NULL))
);
CREATE INDEX ix_alerts_alert_id ON alerts (alert_id) WHERE kind IS NULL AND ended_at IS NULL;
CREATE UNIQUE INDEX ix_alerts_repository_kind ON alerts (repository, kind) WHERE ended_at IS NULL;
CREATE TABLE freezes (
    repository TEXT NOT NULL,
    event_id BIGINT NOT NULL,
    set_id BIGINT NOT NULL,
    set_at BIGINT NOT NULL,
    terms TEXT NOT NULL,
    stage TEXT NOT NULL,
    "before" TEXT,
    begins_at BIGINT,
    ends_at BIGINT,
    over_at BIGINT,
    due_at BIGINT,
    "by" TEXT,
    removed_by TEXT,
    removed_for TEXT,
    queued BIGINT,
    CONSTRAINT pk_freezes PRIMARY KEY (repository, event_id)
);
CREATE INDEX ix_freezes_due_at ON freezes (due_at) WHERE due_at IS NOT NULL;
CREATE TABLE channels (
    queue TEXT NOT NULL,
    next_sequence BIGINT NOT NULL,
    head_sequence BIGINT NOT NULL,
    claimable_at BIGINT,
    suspended_at BIGINT,
    retry_at BIGINT,
    suspended_code TEXT,
    default_repository TEXT,
    CONSTRAINT pk_channels PRIMARY KEY (queue),
    CONSTRAINT ck_channels_suspended_whole CHECK ((suspended_at IS NULL) = (retry_at IS NULL) AND (suspended_at IS NULL) = (suspended_code IS NULL))
);
CREATE INDEX ix_channels_claimable_at_queue ON channels (claimable_at, queue);
CREATE TABLE live_messages (
    message_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    repository TEXT NOT NULL,
    "key" TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    is_second BOOLEAN NOT NULL,
    closed BOOLEAN NOT NULL,
    is_lost BOOLEAN NOT NULL,
    wanted BIGINT NOT NULL,
    shown BIGINT NOT NULL,
    priority BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    digest TEXT,
    due_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    message_ts TEXT,
    made_by TEXT,
    ended_by TEXT,
    ended_at BIGINT,
    CONSTRAINT uq_live_messages_subject UNIQUE (kind, repository, "key", channel_id)
);
CREATE INDEX ix_live_messages_changed_at ON live_messages (changed_at);
CREATE INDEX ix_live_messages_priority_due_at ON live_messages (priority, due_at) WHERE message_ts IS NOT NULL AND is_lost = 0 AND wanted > shown;
CREATE UNIQUE INDEX ix_live_messages_repository_channel_id ON live_messages (repository, channel_id) WHERE kind = 'board' AND ended_at IS NULL;
CREATE TABLE threads (
    kind TEXT NOT NULL,
    repository TEXT NOT NULL,
    "key" TEXT NOT NULL,
    last_at BIGINT NOT NULL,
    began_at BIGINT,
    ended_at BIGINT,
    pull_request BIGINT,
    latest_event_id BIGINT,
    session_id TEXT,
    batch_id TEXT,
    entered BOOLEAN,
    pull_requests TEXT,
    CONSTRAINT pk_threads PRIMARY KEY (kind, repository, "key")
);
CREATE INDEX ix_threads_last_at ON threads (last_at);
CREATE INDEX ix_threads_kind_repository_last_at ON threads (kind, repository, last_at);
CREATE INDEX ix_threads_kind_repository_pull_request ON threads (kind, repository, pull_request);
CREATE TABLE group_acts (
    group_act_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
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
    resumes_at BIGINT
);
CREATE TABLE pauses (
    pause_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    repository TEXT NOT NULL,
    paused_at BIGINT NOT NULL,
    is_exact BOOLEAN NOT NULL,
    stored_reason TEXT NOT NULL,
    reason TEXT NOT NULL,
    previous_reason TEXT,
    "by" TEXT,
    ended_by TEXT,
    event_id BIGINT,
    queued_at_start BIGINT,
    queued_now BIGINT,
    joined TEXT NOT NULL,
    stopped TEXT NOT NULL,
    ended_at BIGINT,
    ending TEXT,
    end_notified BOOLEAN NOT NULL,
    group_act_id BIGINT NOT NULL,
    timer TEXT,
    timer_due_at BIGINT,
    reminders TEXT,
    CONSTRAINT uq_pauses_paused_at UNIQUE (repository, paused_at),
    CONSTRAINT ck_pauses_ended_somehow CHECK ((ended_at IS NULL) = (ending IS NULL))
);
CREATE INDEX ix_pauses_repository ON pauses (repository) WHERE ended_at IS NULL;
CREATE INDEX ix_pauses_ended_at ON pauses (ended_at);
CREATE INDEX ix_pauses_timer_due_at ON pauses (timer_due_at) WHERE timer_due_at IS NOT NULL;
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
    CONSTRAINT pk_subscriptions PRIMARY KEY (channel_id, repository, source)
);
CREATE INDEX ix_subscriptions_repository ON subscriptions (repository);
CREATE TABLE people (
    user_id TEXT NOT NULL,
    login TEXT,
    linked_at BIGINT,
    choices TEXT,
    CONSTRAINT pk_people PRIMARY KEY (user_id)
);
CREATE INDEX ix_people_login ON people (login);
CREATE INDEX ix_people_user_id ON people (user_id) WHERE choices IS NOT NULL;
CREATE TABLE audit (
    record_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    act_id BIGINT NOT NULL,
    group_act_id BIGINT NOT NULL,
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
    setting_before TEXT,
    setting_after TEXT,
    evidence TEXT,
    paused_at BIGINT,
    previous_paused_at BIGINT,
    resumes_at BIGINT,
    pull_request BIGINT
);
CREATE INDEX ix_audit_repository_at ON audit (repository, at);
CREATE INDEX ix_audit_act_id ON audit (act_id) WHERE act_id > 0;
CREATE INDEX ix_audit_at ON audit (at);
CREATE TABLE leases (
    name TEXT NOT NULL,
    holder TEXT NOT NULL,
    token BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    CONSTRAINT pk_leases PRIMARY KEY (name)
);
CREATE INDEX ix_leases_expires_at ON leases (expires_at) WHERE name LIKE 'worker:%';
CREATE TABLE expiring_keys (
    kind TEXT NOT NULL,
    "key" TEXT NOT NULL,
    until BIGINT NOT NULL,
    value BIGINT,
    CONSTRAINT pk_expiring_keys PRIMARY KEY (kind, "key")
);
CREATE INDEX ix_expiring_keys_until ON expiring_keys (until);
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
    root_id BIGINT,
    CONSTRAINT pk_deliveries PRIMARY KEY (delivery_id),
    CONSTRAINT uq_deliveries_queue_sequence UNIQUE (queue, sequence),
    CONSTRAINT uq_deliveries_subject UNIQUE (subject_kind, repository, subject_id, channel_id),
    CONSTRAINT ck_deliveries_settled_has_time CHECK ((settled_at IS NOT NULL) = (state = 'delivered' OR state = 'failed' OR state = 'summarized')),
    CONSTRAINT fk_deliveries_queue FOREIGN KEY(queue) REFERENCES channels (queue)
);
CREATE INDEX ix_deliveries_state_created_at ON deliveries (state, created_at) WHERE settled_at IS NULL;
CREATE INDEX ix_deliveries_settled_at ON deliveries (settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX ix_deliveries_summarized_by ON deliveries (summarized_by) WHERE summarized_by IS NOT NULL;
CREATE TABLE resume_watchers (
    pause_id BIGINT NOT NULL,
    user_id TEXT NOT NULL,
    CONSTRAINT pk_resume_watchers PRIMARY KEY (pause_id, user_id),
    CONSTRAINT fk_resume_watchers_pause_id FOREIGN KEY(pause_id) REFERENCES pauses (pause_id)
);
CREATE TRIGGER audit_refuses_update BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit records are only ever added'); END;
CREATE TRIGGER audit_refuses_delete BEFORE DELETE ON audit WHEN OLD.result <> 'refused' OR OLD.act_id <> 0 BEGIN SELECT RAISE(ABORT, 'audit records are only ever added'); END;
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num));
INSERT INTO alembic_version VALUES ('0001_initial');

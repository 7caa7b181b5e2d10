"""What people type to the bot, and what it understands: one row for each, in four places.

The queues are acme/site, acme/api, acme/docs and umbrella/docs; @release is acme/site and acme/api.
What is understood is written like this:

    pause acme/site 1h (CI is down)   the command, its queue, its end and its reason
    status ?                          the command, and the question which queue
    …, until when?                    the command, and the question which end is meant
    ask: …, or …                      a question which of several queues is meant
    offer: …, or …                    not understood; buttons with commands that may be meant
    refuse                            not understood, with a sentence that says why
    help                              not understood: what the bot can do
"""

CHANNEL = "channel"
"""A channel whose default is acme/site."""

ELSEWHERE = "elsewhere"
"""A channel that follows no queue."""

SUBSCRIBED = "channel with one subscription"
"""To acme/api, without a default."""

BETWEEN = "channel with two subscriptions"
"""To acme/api and acme/docs, and its default is a queue that is no longer configured."""

PAUSE_THREAD = "thread of a pause"
"""Of acme/api, in the channel of acme/site."""

FAILURE_THREAD = "thread of a pull request"
"""#41 of acme/api left the queue, in the channel of acme/site."""

GROUP_THREAD = "thread of a group"
"""@release is paused, in the channel of acme/site."""

FREEZE_THREAD = "thread of a freeze"
"""Of acme/api, in the channel of acme/site."""

DIRECT = "direct message"
"""From somebody whose pull request is #7 of acme/docs."""

UNDERSTOOD = [
    # The queue of the place.
    (SUBSCRIBED, "pause", "pause acme/api"),
    (SUBSCRIBED, "status", "status acme/api"),
    (BETWEEN, "pause", "pause ?"),
    (BETWEEN, "why 41", "why ? #41"),
    # A command with its own verb.
    (CHANNEL, "", "status acme/site"),
    (CHANNEL, "pause", "pause acme/site"),
    (CHANNEL, "Pause CI is down", "pause acme/site (CI is down)"),
    (CHANNEL, "pls pause for an hour", "pause acme/site 1h"),
    (CHANNEL, "please pause the queue, CI is down", "pause acme/site (the queue, CI is down)"),
    (
        CHANNEL,
        "hey, can you pause acme/api for 30 min: flaky runners",
        "pause acme/api 30m (flaky runners)",
    ),
    (CHANNEL, "could you pause merging until 15:00", "pause acme/site until 15:00"),
    (
        CHANNEL,
        "let's pause the merge queue because CI is down",
        "pause acme/site (because CI is down)",
    ),
    (CHANNEL, "pause the queue until monday 9", "pause acme/site (until monday 9), until when?"),
    (
        CHANNEL,
        "pause now 40m after the copy",
        "pause now acme/site (40m after the copy), until when?",
    ),
    (CHANNEL, "pause within the hour", "pause acme/site (within the hour), until when?"),
    (CHANNEL, "resume 41", "refuse"),
    (CHANNEL, "resume status", "refuse"),
    (CHANNEL, "pause everything", "ask: pause @all, or pause acme/site"),
    (CHANNEL, "stop everything CI is down", "offer: pause everything CI is down"),
    (
        CHANNEL,
        "pause everything CI is down",
        "ask: pause @all (CI is down), or pause acme/site (everything CI is down)",
    ),
    (
        CHANNEL,
        "pause acme/api everything is slow",
        "pause acme/api (everything is slow)",
    ),
    (CHANNEL, "pause all CI is down", "pause @all (CI is down)"),
    (CHANNEL, "pause @release 2h cutting 4.2", "pause @release 2h (cutting 4.2)"),
    (
        CHANNEL,
        "pause api gateway returns 500s",
        "ask: pause acme/api (gateway returns 500s), or pause acme/site (api gateway returns 500s)",
    ),
    (
        CHANNEL,
        "pause docs",
        "ask: pause acme/docs, or pause umbrella/docs, or pause acme/site (docs)",
    ),
    (CHANNEL, "pause `acme/api`: “CI is down”", "pause acme/api (“CI is down”)"),
    (CHANNEL, "pause „acme/api“ CI ist kaputt", "pause acme/api (CI ist kaputt)"),
    (
        CHANNEL,
        "pause «\u00a0acme/api\u00a0» 1h30\u00a0: panne CI\u00a0!",
        "pause acme/api 1h30m (panne CI\u00a0!)",
    ),
    (CHANNEL, "pause https://github.com/acme/api 45m deploying", "pause acme/api 45m (deploying)"),
    (CHANNEL, "*pause* _now_ it burns", "pause now acme/site (it burns)"),
    (CHANNEL, "```pause 45m```", "pause acme/site 45m"),
    (CHANNEL, "pause it now", "pause now acme/site"),
    (CHANNEL, "/mq pause CI is down", "pause acme/site (CI is down)"),
    (CHANNEL, "resume please", "resume acme/site"),
    (CHANNEL, "unpause the queue", "resume acme/site"),
    (CHANNEL, "please resume", "resume acme/site"),
    (CHANNEL, "resume siet", "offer: resume acme/site"),
    (CHANNEL, "unfreeze", "unfreeze acme/site"),
    (CHANNEL, "please unfreeze the queue", "unfreeze acme/site"),
    (CHANNEL, "freeze main?", "freeze acme/site (main?)"),
    (CHANNEL, "extend 30m", "extend acme/site 30m"),
    (CHANNEL, "extend acme/api until 18:00", "extend acme/api until 18:00"),
    (CHANNEL, "extend by another hour pls", "extend acme/site 1h"),
    (CHANNEL, "extend", "extend acme/site"),
    (CHANNEL, "#41", "why acme/site #41"),
    (CHANNEL, "https://github.com/acme/api/pull/41", "why acme/api #41"),
    (CHANNEL, "acme/api", "status acme/api"),
    (CHANNEL, "status of the queue please", "status acme/site"),
    (ELSEWHERE, "status", "status ?"),
    (ELSEWHERE, "pause CI is down", "pause ? (CI is down)"),
    # Questions.
    (CHANNEL, "is the queue stuck?", "why queue acme/site"),
    (CHANNEL, "is acme/api paused?", "status acme/api"),
    (CHANNEL, "what's going on", "status acme/site"),
    (CHANNEL, "Whats up with the merge queue??", "status acme/site"),
    (CHANNEL, "why is nothing merging", "why queue acme/site"),
    (CHANNEL, "who paused the queue?", "status acme/site"),
    (CHANNEL, "when will it resume", "status acme/site"),
    (CHANNEL, "is teh queue stcuk", "status acme/site"),
    (CHANNEL, "is main frozen?", "freezes acme/site"),
    (CHANNEL, "when is the next freeze", "freezes acme/site"),
    (CHANNEL, "why isn\u2019t 41 merging?", "why acme/site #41"),
    (CHANNEL, "what happened to https://github.com/acme/api/pull/41", "why acme/api #41"),
    (CHANNEL, "show me the log of acme/api", "log acme/api"),
    (CHANNEL, "how do I pause the queue?", "help pause"),
    (CHANNEL, "what can you do", "help"),
    (DIRECT, "why isn't my pr merging", "why acme/docs #7"),
    (CHANNEL, "where is my PR?", "refuse"),
    # A synonym or a slip.
    (CHANNEL, "stop the queue until monday 9", "offer: pause acme/site until monday 9"),
    (CHANNEL, "hold off, CI is red", "offer: pause acme/site CI is red"),
    (CHANNEL, "pasue 45m", "offer: pause acme/site 45m"),
    (CHANNEL, "pquse CI est en panne", "offer: pause acme/site CI est en panne"),
    (CHANNEL, "zhy 41", "offer: why 41"),
    (CHANNEL, "whz #41", "offer: why #41"),
    (
        CHANNEL,
        "start merging again",
        "offer: resume acme/site, or stats",
    ),
    (CHANNEL, "we should pause the queue", "offer: pause acme/site"),
    (CHANNEL, "please don't pause the queue", "help"),
    (CHANNEL, "requeue 41", "help"),
    (CHANNEL, "pasue the queue", "offer: pause acme/site"),
    (CHANNEL, "help stopp", "offer: help pause"),
    (CHANNEL, "why 41 @release", "offer: why 41 acme/site, or why 41 acme/api"),
    (CHANNEL, "that was quick", "help"),
    (CHANNEL, "thanks, that was quick", "help"),
    (CHANNEL, "pause acme/siet CI is down", "offer: pause acme/site CI is down"),
    (CHANNEL, "pause @relaese CI is down", "offer: pause @release CI is down"),
    (CHANNEL, "pause until 25:00 CI is down", "refuse"),
    # The thread says what it is about.
    (PAUSE_THREAD, "resume", "resume acme/api, if unchanged"),
    (PAUSE_THREAD, "extend 30m", "extend acme/api 30m, if unchanged"),
    (PAUSE_THREAD, "why?", "why queue acme/api"),
    (PAUSE_THREAD, "another 30 min", "offer: extend acme/api 30 min"),
    (PAUSE_THREAD, "it's fixed", "offer: resume acme/api it's fixed"),
    (PAUSE_THREAD, "resume acme/site", "resume acme/site"),
    (FAILURE_THREAD, "why", "why acme/api #41"),
    (FAILURE_THREAD, "what happened?", "why acme/api #41"),
    (FAILURE_THREAD, "why did it fail", "why acme/api #41"),
    (FAILURE_THREAD, "log", "log acme/api #41"),
    (FAILURE_THREAD, "remove", "remove acme/api #41"),
    (FAILURE_THREAD, "is the queue stuck", "why queue acme/api"),
    (GROUP_THREAD, "resume", "resume @release"),
    (GROUP_THREAD, "extend until 18:00", "extend @release until 18:00"),
    (GROUP_THREAD, "why", "status @release"),
    (FREEZE_THREAD, "unfreeze shipped", "unfreeze acme/api (shipped), that freeze"),
    (FREEZE_THREAD, "unfreeze", "unfreeze acme/api, that freeze"),
    (FREEZE_THREAD, "extend until 18:00", "extend acme/api until 18:00, that freeze"),
    (FREEZE_THREAD, "another 30 min", "offer: extend acme/api 30 min"),
    (FREEZE_THREAD, "it's over", "offer: unfreeze acme/api it's over"),
    (FREEZE_THREAD, "resume", "offer: unfreeze acme/api"),
    (FREEZE_THREAD, "allow 41 hotfix", "allow acme/api #41 (hotfix)"),
    (FREEZE_THREAD, "status", "status acme/api"),
    (FREEZE_THREAD, "resume, we have shipped", "offer: unfreeze acme/api we have shipped"),
    (FREEZE_THREAD, "unfreeze acme/api shipped", "unfreeze acme/api (shipped), that freeze"),
    (FREEZE_THREAD, "extend the freeze by 1h", "extend acme/api 1h, that freeze"),
    (FREEZE_THREAD, "skip this one", "unfreeze acme/api, that freeze"),
    (FREEZE_THREAD, "cancel it please", "unfreeze acme/api, that freeze"),
    (FREEZE_THREAD, "end the freeze", "unfreeze acme/api, that freeze"),
    (FREEZE_THREAD, "end it at 17:00", "offer: extend acme/api at 17:00"),
    (FREEZE_THREAD, "shorten to 17:00", "offer: extend acme/api 17:00"),
    (FREEZE_THREAD, "released", "offer: unfreeze acme/api released"),
    (FREEZE_THREAD, "move it to friday 18:00", "offer: freezes acme/api"),
    (FREEZE_THREAD, "when does it end?", "freezes acme/api"),
    (FREEZE_THREAD, "unfreeze acme/site shipped", "unfreeze acme/site (shipped)"),
    # To be notified when a queue resumes.
    (CHANNEL, "notify acme/api", "notify acme/api"),
    (CHANNEL, "ping me when acme/api is back", "notify acme/api"),
    (CHANNEL, "let me know when merging resumes", "notify acme/site"),
    (CHANNEL, "can you tell me when the queue is unpaused?", "notify acme/site"),
    (CHANNEL, "when it resumes, notify me", "notify acme/site"),
    (CHANNEL, "could someone ping me when the pause is lifted 🙏", "notify acme/site"),
    (CHANNEL, "dm me once @release is running again", "notify @release"),
    (SUBSCRIBED, "let me know when it resumes", "notify acme/api"),
    (BETWEEN, "let me know when it resumes", "notify ?"),
    (PAUSE_THREAD, "notify me", "notify acme/api"),
    (PAUSE_THREAD, "pls ping me when it's over", "notify acme/api"),
    (GROUP_THREAD, "tell me when it resumes", "notify @release"),
    (FAILURE_THREAD, "let me know when the queue resumes", "notify acme/api"),
    (DIRECT, "notify me when acme/site resumes", "notify acme/site"),
    (DIRECT, "let me know when it's back", "notify ?"),
    (CHANNEL, "notfy me when it resumes", "offer: notify me when it resumes"),
    (CHANNEL, "tell me when it will resume", "status acme/site"),
    (CHANNEL, "tell me what's going on", "status acme/site"),
    (CHANNEL, "don't notify me when it resumes", "help"),
    (CHANNEL, "notify us when it resumes", "refuse"),
    (CHANNEL, "let me know when acme/siet resumes", "help"),
    (FAILURE_THREAD, "notify me when it merges", "refuse"),
    (FAILURE_THREAD, "let me know when it's done", "help"),
    (CHANNEL, "let me know why 41 failed", "why acme/site #41"),
    # To be responsible.
    (PAUSE_THREAD, "take over", "takeover acme/api, if unchanged"),
    (CHANNEL, "take over acme/api", "takeover acme/api"),
    (GROUP_THREAD, "takeover", "takeover @release"),
    (DIRECT, "take over", "takeover ?"),
    (PAUSE_THREAD, "taking this over, thanks Bob", "offer: takeover acme/api"),
    (PAUSE_THREAD, "I'll take this one", "offer: takeover acme/api"),
    (PAUSE_THREAD, "take it", "offer: takeover acme/api"),
    (CHANNEL, "I'm taking over acme/api", "offer: takeover acme/api"),
    (CHANNEL, "take a break", "help"),
    # Not now, not sure, or no command.
    (CHANNEL, "don't pause acme/api", "help"),
    (CHANNEL, "should we pause?", "offer: pause acme/site"),
    (PAUSE_THREAD, "should I resume?", "offer: resume acme/api"),
    (PAUSE_THREAD, "is it safe to resume?", "offer: resume acme/api"),
    (CHANNEL, "resume at 5pm", "offer: extend acme/site, or resume acme/site"),
    (PAUSE_THREAD, "resume in 30 minutes", "offer: extend acme/api, or resume acme/api"),
    (GROUP_THREAD, "resume tomorrow", "offer: extend @release, or resume @release"),
    (CHANNEL, "resume acme/api if CI is green", "offer: extend acme/api, or resume acme/api"),
    (CHANNEL, "resume 2 of 3 runners are back", "resume acme/site (2 of 3 runners are back)"),
    (CHANNEL, "> pause acme/api", "offer: pause acme/api"),
    (CHANNEL, "why did bob pause acme/api", "why queue acme/api"),
    (CHANNEL, "how much longer is the pause", "status acme/site"),
    # Emoji.
    (CHANNEL, ":fire: pause acme/api", "pause acme/api"),
    (CHANNEL, "🚨 pause now", "pause now acme/site"),
    (PAUSE_THREAD, "unpause pls 🙏", "resume acme/api, if unchanged"),
    (CHANNEL, "resume acme/api :tada: all good", "resume acme/api (:tada: all good)"),
    # The queue stands in front of the verb, or is one of two.
    (CHANNEL, "api pause", "offer: pause acme/api"),
    (CHANNEL, "docs pause", "offer: pause acme/docs, or pause umbrella/docs"),
    (CHANNEL, "acme/api is broken, please pause", "offer: pause acme/api"),
    (
        CHANNEL,
        "pause acme/api and acme/docs until 15:00",
        "ask: pause acme/api (and acme/docs until 15:00), or pause acme/docs (until 15:00)",
    ),
    # What is ended is the pause.
    (CHANNEL, "undo the pause", "offer: resume acme/site"),
    (CHANNEL, "remove the pause", "offer: resume acme/site"),
    (CHANNEL, "stop the pause of acme/api", "offer: resume acme/api"),
    (CHANNEL, "cancel bob's pause", "offer: resume acme/site"),
    (CHANNEL, "lift the freeze", "offer: unfreeze acme/site"),
    (DIRECT, "end the pause", "offer: resume"),
    # "All" in a reason, and "both", are no queue that anybody may guess.
    (CHANNEL, "resume all green", "ask: resume @all (green), or resume acme/site (all green)"),
    (PAUSE_THREAD, "resume, all good", "ask: resume @all (good), or resume acme/api (all good)"),
    (PAUSE_THREAD, "all green 🎉", "offer: resume acme/api all green 🎉"),
    (FREEZE_THREAD, "all good", "offer: unfreeze acme/api all good"),
    (CHANNEL, "resume all CI is green", "resume @all (CI is green)"),
    (CHANNEL, "pause both", "ask: pause @all, or pause acme/site"),
    # A command that couldn't be read isn't offered; what it would offer is.
    (CHANNEL, "cancel that", "help"),
    (CHANNEL, "stop #41", "offer: remove acme/site 41, or pause acme/site because of #41"),
    (CHANNEL, "move the end to 6pm", "offer: extend acme/site the end to 6pm"),
    (
        CHANNEL,
        "remind me to resume at 5pm",
        "offer: extend acme/site, or resume acme/site",
    ),
    # A queue is paused, not a pull request.
    (CHANNEL, "pause #41", "offer: remove acme/site 41, or pause acme/site because of #41"),
    (CHANNEL, "pause pr 41", "offer: remove acme/site 41, or pause acme/site because of #41"),
    (CHANNEL, "pause 41", "pause acme/site (41), until when?"),
    # More time.
    (PAUSE_THREAD, "+30m", "offer: extend acme/api 30m"),
    (PAUSE_THREAD, "30 more minutes please", "offer: extend acme/api 30 minutes"),
    (PAUSE_THREAD, "give us 15 more minutes", "offer: extend acme/api 15 minutes"),
    (PAUSE_THREAD, "we need more time", "offer: extend acme/api"),
    (CHANNEL, "pause until 3pm UTC db migration", "pause acme/site until 15:00 UTC (db migration)"),
    # Fewer messages.
    (FAILURE_THREAD, "mute", "mute acme/api #41"),
    (FAILURE_THREAD, "mute this pull request", "mute acme/api #41"),
    (FAILURE_THREAD, "stop pinging me about this", "offer: mute"),
    (PAUSE_THREAD, "stop reminding me", "offer: me reminders off"),
    (CHANNEL, "mute 41", "mute acme/site #41"),
    (CHANNEL, "mute acme/api", "refuse"),
    (DIRECT, "mute 41", "mute ? #41"),
    (FAILURE_THREAD, "remove it", "remove acme/api #41"),
    (DIRECT, "pause notifications", "me"),
    (DIRECT, "turn off notifications", "me"),
    (DIRECT, "mute everything", "me"),
    (DIRECT, "stop everything", "offer: pause everything"),
    # A direct message.
    (DIRECT, "stop", "me"),
    (DIRECT, "mute reminders please", "me"),
    (DIRECT, "stop the queue", "offer: pause"),
    (DIRECT, "resume", "resume ?"),
    (DIRECT, "Hi! status of acme/api", "status acme/api"),
]

TRIED_LATER = [
    (CHANNEL, "anyone know why the queue isn't moving?", "why queue acme/site"),
    (
        CHANNEL,
        "@merge-queue pause for lunch until 13:30 plz",
        "pause acme/site (for lunch until 13:30 plz), until when?",
    ),
    (CHANNEL, "put the queue on hold for 20 minutes", "offer: pause acme/site for 20 minutes"),
    (
        CHANNEL,
        "can we freeze until tomorrow morning",
        "freeze acme/site (until tomorrow morning), until when?",
    ),
    (CHANNEL, "how long is the queue?", "why queue acme/site"),
    (CHANNEL, "did #41 get merged?", "why acme/site #41"),
    (CHANNEL, "PR 41 status", "why acme/site #41"),
    (CHANNEL, "unpause acme/api, all green now", "resume acme/api (all green now)"),
    (
        CHANNEL,
        "resume acme/api & acme/docs",
        "ask: resume acme/api (& acme/docs), or resume acme/docs",
    ),
    (CHANNEL, "pause acme/* CI down", "pause @acme/* (CI down)"),
    (
        CHANNEL,
        "let 41 through the freeze, hotfix",
        "offer: allow acme/site 41 through the freeze, hotfix",
    ),
    (CHANNEL, "kick 41 out", "offer: remove acme/site 41"),
    (CHANNEL, "what's in the queue", "status acme/site"),
    (CHANNEL, "notify me when it resumes", "notify acme/site"),
    (CHANNEL, "who is on call", "help"),
    (CHANNEL, "list freezes", "freezes acme/site"),
    (CHANNEL, "subscribe to failures only", "subscribe acme/site"),
    (CHANNEL, "we are back, thaw everything", "offer: unfreeze everything"),
    (CHANNEL, "skip tonight's freeze", "offer: unfreeze acme/site"),
    (CHANNEL, "can you cancel the planned freeze?", "offer: unfreeze acme/site"),
    (CHANNEL, "end the freeze of acme/api, released", "offer: unfreeze acme/api, released"),
    (CHANNEL, "lift the code freeze", "offer: unfreeze acme/site"),
    (CHANNEL, "stop the freeze now", "offer: unfreeze acme/site"),
    (CHANNEL, "remove the freeze", "offer: unfreeze acme/site"),
    (CHANNEL, "un-freeze released", "unfreeze acme/site (released)"),
    (CHANNEL, "extend the freeze by 1h", "offer: freezes acme/site"),
    (CHANNEL, "shorten the freeze of acme/api to 17:00", "offer: freezes acme/api"),
    (CHANNEL, "move the freeze to friday 18:00", "offer: freezes acme/site"),
    (CHANNEL, "postpone the freeze by an hour", "offer: freezes acme/site"),
    (CHANNEL, "when does the freeze end?", "freezes acme/site"),
    (CHANNEL, "don't end the freeze", "freezes acme/site"),
    (CHANNEL, "we need to plan a freeze", "offer: freeze acme/site"),
    (
        CHANNEL,
        "plan a freeze from friday 18:00 until monday 8:00 release",
        "offer: freeze from friday 18:00 until monday 8:00 release",
    ),
    (CHANNEL, "skip", "offer: freezes"),
    (CHANNEL, "undo that freeze", "offer: unfreeze acme/site"),
    (CHANNEL, "I think we need to end the freeze", "offer: unfreeze acme/site"),
    (CHANNEL, "plan the end of the freeze", "offer: freezes acme/site"),
    (DIRECT, "end the freeze of acme/docs", "offer: unfreeze acme/docs"),
    (CHANNEL, "queue status acme/docs", "status acme/docs"),
    (CHANNEL, "paus acme/api 30 min: Flaky-Tests", "offer: pause acme/api 30 min: Flaky-Tests"),
    (
        CHANNEL,
        "pause acme/api bis 17 Uhr: Wartung",
        "pause acme/api (bis 17 Uhr: Wartung), until when?",
    ),
    (CHANNEL, "pause until 17h00 : maintenance", "pause acme/site until 17:00 (maintenance)"),
    (PAUSE_THREAD, "how long?", "why queue acme/api"),
    (PAUSE_THREAD, "please make it 2 hours longer", "offer: extend acme/api 2 hours"),
    (PAUSE_THREAD, "can you resume this please?", "resume acme/api, if unchanged"),
    (PAUSE_THREAD, "still broken, extend 1h", "offer: extend acme/api 1h"),
    (PAUSE_THREAD, "ok to merge again", "status acme/api"),
    (FAILURE_THREAD, "was that a flake?", "why acme/api #41"),
    (FAILURE_THREAD, "retry", "help"),
    (FAILURE_THREAD, "@bob can you look at this", "help"),
    (GROUP_THREAD, "status please", "status @release"),
    (GROUP_THREAD, "done, resume all", "offer: resume all"),
    (DIRECT, "notifications off", "me"),
    (DIRECT, "hello", "help"),
    (DIRECT, "what are my prs doing?", "why acme/docs #7"),
    (DIRECT, "unsubscribe me", "me"),
    (DIRECT, "is anything paused?", "status @all"),
]
"""Written once the rest was understood, to see what else is."""

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
    # The name of the queue that is meant anyway, without its owner: an end behind it counts.
    (CHANNEL, "pause site 45m CI is down", "pause acme/site 45m (CI is down)"),
    (CHANNEL, "pause now site 45m CI is down", "pause now acme/site 45m (CI is down)"),
    (CHANNEL, "pause site now 45m CI is down", "pause now acme/site 45m (CI is down)"),
    (CHANNEL, "pause site: 45m CI is down", "pause acme/site 45m (CI is down)"),
    (CHANNEL, "pause site, 45m, CI is down", "pause acme/site 45m (CI is down)"),
    (CHANNEL, "pause site until 15:00 release", "pause acme/site until 15:00 (release)"),
    (CHANNEL, "pause site until 25:00 release", "refuse"),
    (
        CHANNEL,
        "pause site tomorrow at 9 release",
        "pause acme/site (tomorrow at 9 release), until when?",
    ),
    (CHANNEL, "pause site queue 45m CI is down", "pause acme/site 45m (CI is down)"),
    (CHANNEL, "pause the site 45m CI is down", "pause acme/site 45m (CI is down)"),
    (CHANNEL, "pause on site for 45m CI is down", "pause acme/site 45m (CI is down)"),
    (CHANNEL, "pause the site queue for 45m", "pause acme/site 45m"),
    (CHANNEL, "pause site please", "pause acme/site"),
    (CHANNEL, "pause site CI is down", "pause acme/site (site CI is down)"),
    (CHANNEL, "pause site queue is stuck", "pause acme/site (site queue is stuck)"),
    (CHANNEL, "pause the site is down", "pause acme/site (the site is down)"),
    (CHANNEL, "pause site api is down", "pause acme/site (site api is down)"),
    (CHANNEL, "pause 45m site is down", "pause acme/site 45m (site is down)"),
    (CHANNEL, "pause site when CI is red", "offer: pause acme/site"),
    (CHANNEL, "pause site nevermind", "offer: pause acme/site"),
    (
        CHANNEL,
        "pause site from 5pm until 7pm demo",
        "offer: freeze acme/site from 5pm until 7pm demo, or pause acme/site until 19:00 demo",
    ),
    (
        CHANNEL,
        "freeze site from fri 18:00 until mon 08:00 weekend",
        "freeze acme/site from fri 18:00 until mon 08:00 (weekend)",
    ),
    (CHANNEL, "freeze the site 2h cutting 4.2", "freeze acme/site 2h (cutting 4.2)"),
    (CHANNEL, "resume the site", "resume acme/site"),
    (CHANNEL, "resume site CI is back", "resume acme/site (site CI is back)"),
    (CHANNEL, "resume site at 5pm", "offer: extend acme/site, or resume acme/site"),
    (SUBSCRIBED, "pause api 45m CI is down", "pause acme/api 45m (CI is down)"),
    # Of another queue, with other words around its name.
    (
        CHANNEL,
        "pause the api 45m CI is down",
        "ask: pause acme/api (CI is down), or pause acme/site (the api 45m CI is down)",
    ),
    (
        CHANNEL,
        "pause on the api until 5pm CI is down",
        "ask: pause acme/api (CI is down), or pause acme/site (on the api until 5pm CI is down)",
    ),
    (CHANNEL, "resume the api", "resume acme/api"),
    (CHANNEL, "resume the api queue", "resume acme/api"),
    (CHANNEL, "resume merging in api, please", "resume acme/api"),
    # Other words in front of a whole name, and names written like options.
    (CHANNEL, "pause the queue acme/api 45m", "pause acme/api 45m"),
    (CHANNEL, "pause merging on acme/api for 45m CI is down", "pause acme/api 45m (CI is down)"),
    (CHANNEL, "pause 45m on acme/api", "pause acme/api 45m"),
    (CHANNEL, "freeze --repo acme/api 2h", "freeze acme/api 2h"),
    (CHANNEL, "pause the @release queues 45m", "pause @release 45m"),
    (CHANNEL, "resume the queue acme/api", "resume acme/api"),
    (
        CHANNEL,
        "pause the acme/api deploy is broken",
        (
            "ask: pause acme/api (the acme/api deploy is broken), "
            "or pause acme/site (the acme/api deploy is broken)"
        ),
    ),
    (CHANNEL, "pause -q api", "ask: pause acme/api, or pause acme/site (-q api)"),
    (CHANNEL, "pause queue=api 45m", "ask: pause acme/api, or pause acme/site (api 45m)"),
    (CHANNEL, "pause queue:site 45m", "pause acme/site 45m"),
    # A list of names in front of an end: it is no part of the reason, whichever is meant.
    (
        ELSEWHERE,
        "pause api and site 45m CI is down",
        (
            "ask: pause @release (CI is down), or pause acme/api (CI is down), "
            "or pause acme/site (CI is down), or pause (api and site 45m CI is down)"
        ),
    ),
    (
        ELSEWHERE,
        "freeze site, api from fri 18:00 until mon 08:00 weekend",
        (
            "ask: freeze @release (weekend), or freeze acme/site (weekend), "
            "or freeze acme/api (weekend), "
            "or freeze (site, api from fri 18:00 until mon 08:00 weekend)"
        ),
    ),
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
    (CHANNEL, "freeze main?", "offer: freeze acme/site branch:main"),
    (CHANNEL, "freeze main", "offer: freeze acme/site branch:main"),
    (CHANNEL, "freeze merges to main 2h", "offer: freeze acme/site branch:main 2h"),
    (CHANNEL, "freeze 2h master", "offer: freeze acme/site 2h branch:master"),
    (CHANNEL, "freeze main is broken", "freeze acme/site (main is broken)"),
    (CHANNEL, "freeze main, CI is red", "freeze acme/site (main, CI is red)"),
    (
        CHANNEL,
        "pause 45m main",
        "offer: freeze acme/site 45m branch:main, or pause acme/site 45m",
    ),
    (CHANNEL, "pause 45m main is red", "pause acme/site 45m (main is red)"),
    # An option that mqbot doesn't know.
    (
        CHANNEL,
        "pause -t 30m CI",
        "offer: pause acme/site 30m CI, or pause acme/site because -t 30m CI",
    ),
    (CHANNEL, "pause -d30m", "offer: pause acme/site 30m, or pause acme/site because -d30m"),
    (CHANNEL, "freeze /30m", "offer: freeze acme/site 30m, or freeze acme/site because /30m"),
    (
        CHANNEL,
        "pause 30m --reason CI",
        "offer: pause acme/site 30m CI, or pause acme/site 30m because --reason CI",
    ),
    (CHANNEL, "pause /etc is full", "pause acme/site (/etc is full)"),
    (CHANNEL, "pause - CI is down", "pause acme/site (CI is down)"),
    (CHANNEL, "pause time: 30m CI", "pause acme/site 30m (CI)"),
    (CHANNEL, "pause \u224830m CI", "pause acme/site 30m (CI)"),
    (CHANNEL, "pause time is up", "pause acme/site (time is up)"),
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
    (CHANNEL, "take over acme/api now, please", "takeover acme/api"),
    (CHANNEL, "take over the pause of acme/api", "takeover acme/api"),
    (PAUSE_THREAD, "takeover it 🙏", "takeover acme/api, if unchanged"),
    (CHANNEL, "take over bob's laptop", "refuse"),
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
        "ask: pause acme/api, or pause acme/docs",
    ),
    (
        CHANNEL,
        "pause acme/site, acme/api 1h CI is down",
        (
            "ask: pause @release (CI is down), or pause acme/site (CI is down), "
            "or pause acme/api (CI is down)"
        ),
    ),
    (
        CHANNEL,
        "freeze acme/site & acme/api from 17:00 until 19:00 for the release",
        (
            "ask: freeze @release (for the release), or freeze acme/site (for the release), "
            "or freeze acme/api (for the release)"
        ),
    ),
    (
        CHANNEL,
        "pause acme/site acme/api please",
        "ask: pause @release, or pause acme/site, or pause acme/api",
    ),
    (
        CHANNEL,
        "pause acme/site, acme/api is down for 1h",
        "ask: pause acme/site (acme/api is down for 1h), or pause acme/api (is down for 1h)",
    ),
    # A list of names: one of them at a time, without the others in the reason.
    (
        CHANNEL,
        "pause acme/site acme/api acme/docs CI is down",
        (
            "ask: pause acme/site (CI is down), or pause acme/api (CI is down), "
            "or pause acme/docs (CI is down)"
        ),
    ),
    (
        CHANNEL,
        "pause acme/site, acme/api, and acme/docs for 1h CI is down",
        (
            "ask: pause acme/site (CI is down), or pause acme/api (CI is down), "
            "or pause acme/docs (CI is down)"
        ),
    ),
    (
        CHANNEL,
        "resume acme/site acme/site acme/api + umbrella/docs",
        "ask: resume acme/site, or resume acme/api, or resume umbrella/docs",
    ),
    (
        CHANNEL,
        "pause @release and acme/docs and umbrella/docs",
        "ask: pause @all, or pause @release, or pause acme/docs, or pause umbrella/docs",
    ),
    (
        ELSEWHERE,
        "pause site, api, docs CI is down",
        (
            "ask: pause acme/site (api, docs CI is down), or pause acme/api (docs CI is down), "
            "or pause acme/docs (CI is down), or pause umbrella/docs (CI is down), "
            "or pause (site, api, docs CI is down)"
        ),
    ),
    (
        CHANNEL,
        "pause site api",
        (
            "ask: pause @release, or pause acme/site, or pause acme/api, "
            "or pause acme/site (site api)"
        ),
    ),
    (
        CHANNEL,
        "status acme/site, acme/api",
        "offer: status @release, or status acme/site, or status acme/api",
    ),
    (CHANNEL, "status acme/api acme/api", "status acme/api"),
    (CHANNEL, "status site api", "offer: status @release, or status site, or status api"),
    (CHANNEL, "status site and api", "offer: status @release, or status site, or status api"),
    (CHANNEL, "status api and docs", "offer: status api, or status docs"),
    (
        CHANNEL,
        "extend api and site 30m",
        "offer: extend @release 30m, or extend api 30m, or extend site 30m",
    ),
    (
        CHANNEL,
        "subscribe api and site quiet",
        "offer: subscribe @release quiet, or subscribe api quiet, or subscribe site quiet",
    ),
    (CHANNEL, "remove 41 api and site", "offer: remove api 41, or remove site 41"),
    (
        CHANNEL,
        "log acme/site acme/api since:1h",
        "offer: log @release since:1h, or log acme/site since:1h, or log acme/api since:1h",
    ),
    (
        CHANNEL,
        "notify acme/site acme/api",
        "offer: notify @release, or notify acme/site, or notify acme/api",
    ),
    (
        CHANNEL,
        "extend acme/site and acme/api and acme/docs by 1h",
        "offer: extend acme/site by 1h, or extend acme/api by 1h, or extend acme/docs by 1h",
    ),
    (
        CHANNEL,
        "subscribe acme/site, @release quiet",
        "offer: subscribe acme/site quiet, or subscribe @release quiet",
    ),
    # "Later" is when to begin, or a part of the reason, which only the person can tell.
    (
        CHANNEL,
        "pause later deploys depend on this",
        "offer: pause acme/site because later deploys depend on this, or pause acme/site",
    ),
    (
        CHANNEL,
        "freeze acme/api later builds are broken",
        "offer: freeze acme/api because later builds are broken, or freeze acme/api",
    ),
    (
        CHANNEL,
        "resume later builds pass",
        (
            "offer: resume acme/site because later builds pass, or extend acme/site, "
            "or resume acme/site"
        ),
    ),
    (
        CHANNEL,
        "unfreeze later deploys are fine",
        "offer: unfreeze acme/site because later deploys are fine, or unfreeze acme/site",
    ),
    (
        CHANNEL,
        "pause after the deploy",
        "offer: pause acme/site because after the deploy, or pause acme/site",
    ),
    (
        CHANNEL,
        "resume after the deploy",
        (
            "offer: extend acme/site, or resume acme/site because after the deploy, "
            "or resume acme/site"
        ),
    ),
    (
        CHANNEL,
        "unfreeze after 41 merges",
        "offer: unfreeze acme/site because after 41 merges, or unfreeze acme/site",
    ),
    (CHANNEL, "freeze after 5pm", "freeze acme/site (after 5pm), until when?"),
    (CHANNEL, "pause later, CI is flaky", "offer: pause acme/site"),
    (CHANNEL, "pause later tonight", "offer: pause acme/site"),
    (CHANNEL, "pause later when CI is green", "offer: pause acme/site"),
    (CHANNEL, "pause a bit later please", "offer: pause acme/site"),
    (CHANNEL, "pause soon", "offer: pause acme/site"),
    (CHANNEL, "pause in a bit", "offer: pause acme/site"),
    (CHANNEL, "pause in a bit of trouble", "pause acme/site (in a bit of trouble)"),
    (CHANNEL, "resume shortly", "offer: extend acme/site, or resume acme/site"),
    (CHANNEL, "resume in a bit", "offer: extend acme/site, or resume acme/site"),
    # Right now.
    (CHANNEL, "pause right now", "pause now acme/site"),
    (CHANNEL, "pause acme/api right away CI is down", "pause now acme/api (CI is down)"),
    (CHANNEL, "pause asap", "pause acme/site"),
    (CHANNEL, "resume immediately", "resume acme/site"),
    (CHANNEL, "pause right branch is broken", "pause acme/site (right branch is broken)"),
    # Somebody thinks better of it.
    (CHANNEL, "pause nevermind", "offer: pause acme/site"),
    (CHANNEL, "pause acme/api, wait, no!", "offer: pause acme/api"),
    (CHANNEL, "pause no", "offer: pause acme/site"),
    (CHANNEL, "pause don\u2019t", "offer: pause acme/site"),
    (CHANNEL, "pause or not?", "offer: pause acme/site"),
    (CHANNEL, "pause 1h nvm", "offer: pause acme/site 1h"),
    # What is offered keeps the times that were typed.
    (CHANNEL, "pause on hold", "offer: pause acme/site"),
    (CHANNEL, "pause 1h on hold", "offer: pause acme/site 1h"),
    (CHANNEL, "freeze acme/api until 18:00 on hold", "offer: freeze acme/api until 18:00"),
    (
        CHANNEL,
        "freeze from 5pm until 7pm nvm",
        "offer: freeze acme/site from 17:00 until 19:00",
    ),
    (CHANNEL, "freeze from 5pm for 2h if needed", "offer: freeze acme/site from 17:00 2h"),
    (
        CHANNEL,
        "freeze from 5pm until 7pm every friday",
        "offer: freeze acme/site from 17:00 until 19:00",
    ),
    (
        CHANNEL,
        "freeze branch:main 2h nvm",
        "offer: freeze acme/site 2h branch:main",
    ),
    (CHANNEL, "freeze branch:main on hold", "offer: freeze acme/site branch:main"),
    (CHANNEL, "pause 1h #41", "offer: remove acme/site 41, or pause acme/site 1h because of #41"),
    (CHANNEL, "freeze #41", "offer: remove acme/site 41, or freeze acme/site because of #41"),
    (
        CHANNEL,
        "freeze acme/api from 5pm until 7pm pr 41",
        "offer: remove acme/api 41, or freeze acme/api from 17:00 until 19:00 because of #41",
    ),
    (CHANNEL, "pause sorry wrong channel", "offer: pause acme/site"),
    (CHANNEL, "pause cancel that", "offer: resume acme/site"),
    (CHANNEL, "freeze nope", "offer: freeze acme/site"),
    (CHANNEL, "resume wait no", "offer: resume acme/site"),
    (CHANNEL, "resume don't resume yet", "offer: resume acme/site"),
    (PAUSE_THREAD, "resume never mind", "offer: resume acme/api"),
    (CHANNEL, "unfreeze nvm", "offer: unfreeze acme/site"),
    (CHANNEL, "pause no tests pass", "pause acme/site (no tests pass)"),
    (CHANNEL, "pause don't merge", "pause acme/site (don't merge)"),
    (CHANNEL, "pause wrong config deployed", "pause acme/site (wrong config deployed)"),
    (CHANNEL, "resume no more failures", "resume acme/site (no more failures)"),
    (CHANNEL, "resume sorry wrong queue", "resume acme/site (sorry wrong queue)"),
    # "At 5pm" is when to begin, or when to end.
    (CHANNEL, "pause at 5pm", "pause acme/site (at 5pm), until when?"),
    (CHANNEL, "pause at 17:00", "pause acme/site (at 17:00), until when?"),
    (
        CHANNEL,
        "pause now acme/api at 5pm CI maintenance",
        "pause now acme/api (at 5pm CI maintenance), until when?",
    ),
    (CHANNEL, "freeze at 5pm cutting 4.2", "freeze acme/site (at 5pm cutting 4.2), until when?"),
    (CHANNEL, "freeze at 5pm for 1h cutting 4.2", "freeze acme/site from 17:00 1h (cutting 4.2)"),
    (CHANNEL, "freeze at 17:00 2h", "freeze acme/site from 17:00 2h"),
    (CHANNEL, "freeze @release at 5pm until 7pm", "freeze @release from 17:00 until 19:00"),
    (CHANNEL, "freeze at 5pm to 7pm cutting", "freeze acme/site from 17:00 until 19:00 (cutting)"),
    (CHANNEL, "freeze at 9h to 12h", "freeze acme/site from 09:00 until 12:00"),
    (CHANNEL, "freeze from 9h until 12h", "freeze acme/site from 09:00 until 12:00"),
    (CHANNEL, "freeze on friday 18:00 for 2h", "freeze acme/site from fri 18:00 2h"),
    (CHANNEL, "freeze tomorrow 9am for 1h", "freeze acme/site from tomorrow 09:00 1h"),
    (
        CHANNEL,
        "freeze friday 6pm until monday 8:00 weekend",
        "freeze acme/site from fri 18:00 until mon 08:00 (weekend)",
    ),
    (CHANNEL, "freeze on main for 2h", "offer: freeze acme/site branch:main for 2h"),
    (CHANNEL, "freeze 2h until 5pm", "refuse"),
    # A pause can't begin later.
    (
        CHANNEL,
        "pause at 5pm for 1h",
        "offer: freeze acme/site from 5pm for 1h, or pause acme/site 1h",
    ),
    (
        CHANNEL,
        "pause @release from 5pm until 7pm deploy",
        "offer: freeze @release from 5pm until 7pm deploy, or pause @release until 19:00 deploy",
    ),
    (
        CHANNEL,
        "pause from 17:00 deploying",
        "offer: freeze acme/site from 17:00 deploying, or pause acme/site deploying",
    ),
    (
        CHANNEL,
        "pause tomorrow 9am for 1h",
        "offer: freeze acme/site from tomorrow 9am for 1h, or pause acme/site 1h",
    ),
    (
        CHANNEL,
        "pause starting at 5pm for 2h",
        "offer: freeze acme/site from 5pm for 2h, or pause acme/site 2h",
    ),
    (CHANNEL, "pause from main to release", "pause acme/site (from main to release)"),
    (CHANNEL, "pause for 2h until 5pm", "refuse"),
    (CHANNEL, "pause until 5pm for 2h", "refuse"),
    (CHANNEL, "pause until at 17:00", "pause acme/site until 17:00"),
    (CHANNEL, "extend at 5pm", "extend acme/site until 17:00"),
    # "To" says when it ends, and not by how much.
    (CHANNEL, "extend to 17h", "extend acme/site until 17:00"),
    (CHANNEL, "extend to 2h", "offer: extend acme/site 2h, or extend acme/site until 02:00"),
    (CHANNEL, "extend from 2h to 3h", "offer: extend acme/site 1h"),
    (CHANNEL, "extend up to 2h", "offer: extend acme/site 2h, or extend acme/site until 02:00"),
    (CHANNEL, "extend up to 5pm", "extend acme/site until 17:00"),
    (CHANNEL, "extend to", "extend acme/site"),
    (CHANNEL, "extend until", "extend acme/site"),
    (CHANNEL, "extend to 30m", "offer: extend acme/site 30m"),
    (CHANNEL, "extend to an hour", "offer: extend acme/site 1h"),
    (CHANNEL, "extend it to monday 9:00", "extend acme/site until mon 09:00"),
    (CHANNEL, "extend @release to 17:30 please", "extend @release until 17:30"),
    (FREEZE_THREAD, "extend to 18:00", "extend acme/api until 18:00, that freeze"),
    (GROUP_THREAD, "extend to 2h", "offer: extend @release 2h, or extend @release until 02:00"),
    (CHANNEL, "extend the pause to 3 hours", "offer: extend acme/site 3h"),
    (CHANNEL, "extend by up to 2 hours", "offer: extend acme/site 2h"),
    (CHANNEL, "extend acme/api up to 17:00", "extend acme/api until 17:00"),
    (CHANNEL, "extend from 5pm to 6pm", "offer: extend acme/site until 18:00"),
    (PAUSE_THREAD, "extend to 2h", "offer: extend acme/api 2h, or extend acme/api until 02:00"),
    (PAUSE_THREAD, "up to 2h more", "offer: extend acme/api 2h, or extend acme/api until 02:00"),
    # A number without its unit, other words around an end, and one that nobody can say.
    (CHANNEL, "extend site another 30", "offer: extend acme/site 30m"),
    (CHANNEL, "extend another 30 minutes", "extend acme/site 30m"),
    (CHANNEL, "extend +30", "offer: extend acme/site 30m"),
    (
        CHANNEL,
        "extend 5",
        "offer: extend acme/site 5m, or extend acme/site 5h, or extend acme/site until 17:00",
    ),
    (PAUSE_THREAD, "extend another 30", "offer: extend acme/api 30m"),
    (CHANNEL, "extend for another hour", "extend acme/site 1h"),
    (CHANNEL, "extend the pause of api by half of an hour", "extend acme/api 30m"),
    (CHANNEL, "extend until fixed", "offer: extend acme/site forever"),
    (CHANNEL, "extend acme/api until further notice", "offer: extend acme/api forever"),
    (CHANNEL, "extend until 25:00", "refuse"),
    # An earlier end. A length would be added, so the form asks for the end.
    (CHANNEL, "shorten site 30m", "offer: extend site"),
    (CHANNEL, "shorten acme/api to 5pm", "offer: extend acme/api until 5pm"),
    (
        CHANNEL,
        "shorten until 5",
        "offer: extend acme/site until 17:00, or extend acme/site until 05:00",
    ),
    (CHANNEL, "shorten docs to 5pm", "offer: extend docs until 5pm"),
    (GROUP_THREAD, "shorten it to 17:00 please", "offer: extend @release until 17:00"),
    (PAUSE_THREAD, "shorten by 10m", "offer: extend acme/api"),
    (ELSEWHERE, "shorten to 17:00", "offer: extend until 17:00"),
    # What may begin later says for how long, too.
    (CHANNEL, "freeze in 10 minutes for 1h", "freeze acme/site in 10m 1h"),
    (CHANNEL, "freeze in 2h until 23:00 deploy", "freeze acme/site in 2h until 23:00 (deploy)"),
    (CHANNEL, "freeze in an hour for 1h deploy", "freeze acme/site in 1h 1h (deploy)"),
    (CHANNEL, "freeze in about 10 minutes for 1h", "freeze acme/site in 10m 1h"),
    (CHANNEL, "freeze from in 10 minutes", "freeze acme/site in 10m"),
    (CHANNEL, "freeze in a week for 1h", "freeze acme/site in 7d 1h"),
    (CHANNEL, "freeze in 1.5h until 23:30", "freeze acme/site in 1h30m until 23:30"),
    (CHANNEL, "freeze in 30m for 2h acme/api move", "freeze acme/api in 30m 2h (move)"),
    (CHANNEL, "freeze in 30 mins to 5pm", "freeze acme/site in 30m until 17:00"),
    (CHANNEL, "freeze in 10 minutes", "freeze acme/site (in 10 minutes), until when?"),
    (CHANNEL, "freeze in review", "freeze acme/site (in review)"),
    (CHANNEL, "freeze from in review", "freeze acme/site (from in review)"),
    (CHANNEL, "freeze in 2026 for 2h", "freeze acme/site (in 2026 for 2h), until when?"),
    (CHANNEL, "freeze in 5 for 2h", "freeze acme/site (in 5 for 2h), until when?"),
    (CHANNEL, "freeze in 400 days for 2h", "refuse"),
    (
        CHANNEL,
        "pause in 10 minutes for 1h deploy",
        "offer: freeze acme/site from in 10 minutes for 1h deploy, or pause acme/site 1h deploy",
    ),
    (
        CHANNEL,
        "pause starting in 10 minutes for 2h",
        "offer: freeze acme/site from in 10 minutes for 2h, or pause acme/site 2h",
    ),
    (
        CHANNEL,
        "pause starting at 5pm until 7pm",
        "offer: freeze acme/site from 5pm until 7pm, or pause acme/site until 19:00",
    ),
    (CHANNEL, "pause CI broke at 5pm", "pause acme/site (CI broke at 5pm)"),
    # A span of days isn't its first day.
    (
        CHANNEL,
        "freeze friday 17:00 - monday 9:00 weekend",
        "freeze acme/site from fri 17:00 until mon 09:00 (weekend)",
    ),
    (
        CHANNEL,
        "pause friday 5pm to monday 9am",
        "offer: freeze acme/site from friday 5pm to monday 9am, or pause acme/site until mon 09:00",
    ),
    (CHANNEL, "pause friday 17:00 - deploying", "pause acme/site until fri 17:00 (deploying)"),
    # From which hour until which.
    (
        CHANNEL,
        "freeze tomorrow 9 to 10",
        (
            "offer: freeze acme/site from tomorrow 09:00 until tomorrow 10:00, "
            "or freeze acme/site from tomorrow 21:00 until tomorrow 22:00"
        ),
    ),
    (
        CHANNEL,
        "freeze tomorrow 9-10am upgrade",
        "freeze acme/site from tomorrow 09:00 until tomorrow 10:00 (upgrade)",
    ),
    (CHANNEL, "freeze from 5 to 6pm", "freeze acme/site from 17:00 until 18:00"),
    (CHANNEL, "freeze 5-6pm upgrade", "freeze acme/site from 17:00 until 18:00 (upgrade)"),
    (CHANNEL, "freeze from 17 to 19", "freeze acme/site from 17:00 until 19:00"),
    (
        CHANNEL,
        "freeze tomorrow 9:00-10:00",
        "freeze acme/site from tomorrow 09:00 until tomorrow 10:00",
    ),
    (
        CHANNEL,
        "freeze friday to monday",
        (
            "offer: freeze acme/site from fri 09:00 until mon 09:00, "
            "or freeze acme/site from fri 00:00 until mon 00:00"
        ),
    ),
    (
        CHANNEL,
        "pause tomorrow 9 to 10 upgrade",
        (
            "offer: freeze acme/site from tomorrow 09:00 until tomorrow 10:00 upgrade, "
            "or pause acme/site until tomorrow 10:00 upgrade, "
            "or freeze acme/site from tomorrow 21:00 until tomorrow 22:00 upgrade"
        ),
    ),
    (
        CHANNEL,
        "pause between 5pm and 7pm upgrade",
        (
            "offer: freeze acme/site from 5pm and 7pm upgrade, "
            "or pause acme/site until 19:00 upgrade"
        ),
    ),
    (CHANNEL, "pause 3-4 runners are down", "pause acme/site (3-4 runners are down)"),
    # An end in the reason of what begins later.
    (
        CHANNEL,
        "freeze site from 5pm until fixed",
        "freeze acme/site from 17:00 (until fixed), until when?",
    ),
    (
        CHANNEL,
        "freeze at 5pm until CI is green",
        "freeze acme/site from 17:00 (until CI is green), until when?",
    ),
    (
        CHANNEL,
        "freeze from 5pm CI maintenance for 2h",
        "freeze acme/site from 17:00 (CI maintenance for 2h), until when?",
    ),
    (CHANNEL, "freeze from 5pm upgrade 4.2", "freeze acme/site from 17:00 (upgrade 4.2)"),
    # A number may be minutes, also behind a name.
    (CHANNEL, "pause site 45", "pause acme/site (45), until when?"),
    (CHANNEL, "pause 45 please", "pause acme/site (45), until when?"),
    (CHANNEL, "pause 45, thanks", "pause acme/site (45), until when?"),
    (CHANNEL, "pause 45!", "pause acme/site (45), until when?"),
    (CHANNEL, "pause 45 now", "pause acme/site (45), until when?"),
    (CHANNEL, "pause 45 :pray:", "pause acme/site (45), until when?"),
    (CHANNEL, "pause site 45 please", "pause acme/site (45), until when?"),
    (CHANNEL, "freeze 45 please", "freeze acme/site (45), until when?"),
    (CHANNEL, "pause acme/api 45", "pause acme/api (45), until when?"),
    (ELSEWHERE, "pause site 45", "ask: pause acme/site (45), or pause (site 45)"),
    (CHANNEL, "freeze site 45", "freeze acme/site (45), until when?"),
    (CHANNEL, "pause site 45 red builds", "pause acme/site (site 45 red builds)"),
    (CHANNEL, "pause site 500 errors", "pause acme/site (site 500 errors)"),
    (
        CHANNEL,
        "pause site #41",
        "offer: remove acme/site 41, or pause acme/site because of #41",
    ),
    (CHANNEL, "pause 45 ok?", "pause acme/site (45), until when?"),
    (CHANNEL, "pause 45 guys", "pause acme/site (45), until when?"),
    (CHANNEL, "pause 45 thank you team", "pause acme/site (45), until when?"),
    (CHANNEL, "pause 1.5 please", "pause acme/site (1.5), until when?"),
    (CHANNEL, "pause 1,5", "pause acme/site (1,5), until when?"),
    (CHANNEL, "pause for 1.5", "pause acme/site (for 1.5), until when?"),
    (CHANNEL, "pause site 45 folks", "pause acme/site (45), until when?"),
    (CHANNEL, "pause 45 or so", "pause acme/site (45 or so), until when?"),
    (CHANNEL, "pause about 45", "pause acme/site (about 45), until when?"),
    (CHANNEL, "pause #41 ok?", "offer: remove acme/site 41, or pause acme/site because of #41"),
    # So may one in front of the reason, unless it counts what follows.
    (CHANNEL, "pause 45, CI is down", "pause acme/site (45, CI is down), until when?"),
    (CHANNEL, "pause 45 \u2014 CI is down", "pause acme/site (45 \u2014 CI is down), until when?"),
    (CHANNEL, "pause 45 for the deploy", "pause acme/site (45 for the deploy), until when?"),
    (CHANNEL, "pause 30 deploying", "pause acme/site (30 deploying), until when?"),
    (CHANNEL, "pause 60 CI is down", "pause acme/site (60 CI is down), until when?"),
    (CHANNEL, "freeze 45 because CI", "freeze acme/site (45 because CI), until when?"),
    (CHANNEL, "pause 45 tests fail", "pause acme/site (45 tests fail)"),
    (CHANNEL, "pause 20 red builds", "pause acme/site (20 red builds)"),
    (CHANNEL, "pause 41, 42 and 43 fail", "pause acme/site (41, 42 and 43 fail)"),
    (CHANNEL, "pause 4.2 release", "pause acme/site (4.2 release)"),
    # Politeness hides neither a name nor an end.
    (CHANNEL, "pause please 45m CI is down", "pause acme/site 45m (CI is down)"),
    (CHANNEL, "pause site asap 45m CI is down", "pause acme/site 45m (CI is down)"),
    (CHANNEL, "pause pls site 45m CI is down", "pause acme/site 45m (CI is down)"),
    (CHANNEL, "pause pls acme/api CI is down", "pause acme/api (CI is down)"),
    (CHANNEL, "resume please api", "resume acme/api"),
    (CHANNEL, "pause thanks to bob", "pause acme/site (thanks to bob)"),
    # Ends written like options.
    (CHANNEL, "pause --for 1h CI is down", "pause acme/site 1h (CI is down)"),
    (CHANNEL, "pause acme/api \u2014until 17:00 CI", "pause acme/api until 17:00 (CI)"),
    (CHANNEL, "pause --until=17:00", "pause acme/site until 17:00"),
    (CHANNEL, "pause duration=45m CI", "pause acme/site 45m (CI)"),
    (CHANNEL, "pause duration of builds", "pause acme/site (duration of builds)"),
    (CHANNEL, "pause -5m", "refuse"),
    # Half an hour isn't half of the queues.
    (CHANNEL, "pause half an hour CI is down", "pause acme/site 30m (CI is down)"),
    (CHANNEL, "freeze half a day", "freeze acme/site 12h"),
    (CHANNEL, "pause half of them", "refuse"),
    # Names in other spellings.
    (
        CHANNEL,
        "pause acme-api CI is down",
        "ask: pause acme/api (CI is down), or pause acme/site (acme-api CI is down)",
    ),
    (CHANNEL, "pause acme//api", "ask: pause acme/api, or pause acme/site (acme//api)"),
    (CHANNEL, "pause acme_api", "ask: pause acme/api, or pause acme/site (acme_api)"),
    (
        CHANNEL,
        "pause acme api is down",
        "ask: pause acme/api (acme api is down), or pause acme/site (acme api is down)",
    ),
    (CHANNEL, "status acme-api", "status acme/api"),
    (CHANNEL, "resume acme-api", "resume acme/api"),
    (CHANNEL, "pause apis", "ask: pause acme/api, or pause acme/site (apis)"),
    (
        CHANNEL,
        "freeze dosc",
        "ask: freeze acme/docs, or freeze umbrella/docs, or freeze acme/site (dosc)",
    ),
    (CHANNEL, "pause sites", "pause acme/site"),
    (CHANNEL, "pause acme is down", "pause acme/site (acme is down)"),
    (CHANNEL, "status apis", "offer: status acme/api"),
    (CHANNEL, "log dosc since:1h", "offer: log acme/docs since:1h, or log umbrella/docs since:1h"),
    # One pull request, one branch.
    (
        CHANNEL,
        "allow 41 and 42 hotfix",
        "offer: allow acme/site 41 hotfix, or allow acme/site 42 hotfix",
    ),
    (
        CHANNEL,
        "allow acme/api#41, #42 hotfix",
        "offer: allow acme/api 41 hotfix, or allow acme/api 42 hotfix",
    ),
    (CHANNEL, "allow 41 2 tests are flaky", "allow acme/site #41 (2 tests are flaky)"),
    (
        CHANNEL,
        "unfreeze 41",
        "offer: allow acme/site 41, or unfreeze acme/site because of #41",
    ),
    (
        CHANNEL,
        "pause acme/api #41",
        "offer: remove acme/api 41, or pause acme/api because of #41",
    ),
    (
        CHANNEL,
        "pause acme/api 1h branch:main CI is red",
        "offer: freeze acme/api 1h branch:main CI is red, or pause acme/api 1h",
    ),
    (
        CHANNEL,
        "pause --branch=main",
        "offer: freeze acme/site branch:main, or pause acme/site",
    ),
    # A reason behind a new end isn't kept, but the end is offered.
    (CHANNEL, "extend acme/api 1h still broken", "offer: extend acme/api 1h"),
    (CHANNEL, "extend until 18:00, deploy is slow", "offer: extend acme/site until 18:00"),
    # A list of two names and no more, and one with a name that nobody has.
    (
        CHANNEL,
        "pause acme/site acme/api",
        "ask: pause @release, or pause acme/site, or pause acme/api",
    ),
    (CHANNEL, "pause acme/site and acme/infra", "refuse"),
    (
        CHANNEL,
        "pause acme/site acme/api acme/dosc CI",
        "offer: pause acme/site acme/api acme/docs CI",
    ),
    (CHANNEL, "pause acme/site acme/infra is down", "pause acme/site (acme/infra is down)"),
    # What is written like a repository, but is hardly one.
    (CHANNEL, "pause CI/CD is down", "offer: pause acme/site because CI/CD is down"),
    (CHANNEL, "resume acme/api CI/CD is back", "resume acme/api (CI/CD is back)"),
    (SUBSCRIBED, "pause 1h I/O errors", "offer: pause acme/api 1h because I/O errors"),
    (CHANNEL, "pause other/repository CI is down", "refuse"),
    (CHANNEL, "status CI/CD", "refuse"),
    (
        CHANNEL,
        "pause acme/api@main CI is red",
        "offer: freeze acme/api branch:main CI is red, or pause acme/api",
    ),
    (CHANNEL, "pause acme/api bob@acme.com broke it", "pause acme/api (bob@acme.com broke it)"),
    (CHANNEL, "freeze this weekend", "freeze acme/site (this weekend), until when?"),
    (CHANNEL, "pause this queue until 17:00", "pause acme/site until 17:00"),
    (CHANNEL, "subscribe acme/api quiet please", "subscribe acme/api"),
    (CHANNEL, "board please", "board acme/site"),
    (CHANNEL, "did someone pause the queue?", "status acme/site"),
    (CHANNEL, "has anyone paused acme/api", "status acme/api"),
    # Options without their colon, and a lone word that is hardly a name.
    (CHANNEL, "log acme/api since 30m", "log acme/api"),
    (CHANNEL, "status branch main", "status acme/site"),
    (CHANNEL, "status branch", "refuse"),
    (CHANNEL, "resume fixed", "offer: resume acme/site because fixed"),
    (PAUSE_THREAD, "resume done", "offer: resume acme/api because done"),
    (CHANNEL, "resume foo", "refuse"),
    # "Please" is no reason.
    (CHANNEL, "pause everything please", "ask: pause @all, or pause acme/site"),
    (CHANNEL, "resume both, thanks", "ask: resume @all, or resume acme/site"),
    (CHANNEL, "pause api please", "ask: pause acme/api, or pause acme/site (api please)"),
    # A branch that isn't typed as an option would freeze all of the queue.
    (CHANNEL, "freeze --branch=main 2h CI", "offer: freeze acme/site branch:main 2h CI"),
    (CHANNEL, "freeze --branch main CI", "offer: freeze acme/site branch:main CI"),
    (CHANNEL, "freeze branch=main", "offer: freeze acme/site branch:main"),
    (CHANNEL, "freeze acme/api@main CI", "offer: freeze acme/api branch:main CI"),
    (CHANNEL, "freeze branch:main CI", "freeze acme/site (CI)"),
    (CHANNEL, "freeze branch main 2h CI", "offer: freeze acme/site branch:main 2h CI"),
    (CHANNEL, "freeze acme/api main branch", "offer: freeze acme/api branch:main"),
    (
        CHANNEL,
        "freeze the main branch except:hotfix until 5pm",
        "offer: freeze acme/site branch:main except:hotfix until 5pm",
    ),
    (
        CHANNEL,
        "pause main branch 45m",
        "offer: freeze acme/site branch:main 45m, or pause acme/site",
    ),
    (CHANNEL, "freeze branch main is red", "freeze acme/site (branch main is red)"),
    (CHANNEL, "pause branch protection broken", "pause acme/site (branch protection broken)"),
    (CHANNEL, "freeze acme/api branch:main bob@acme.com", "freeze acme/api (bob@acme.com)"),
    (CHANNEL, "pause --branch main", "offer: freeze acme/site branch:main, or pause acme/site"),
    (FAILURE_THREAD, "remove please", "remove acme/api #41"),
    # What is offered is about the queue that was named, wherever it stands.
    (CHANNEL, "pause if CI is red on acme/api", "offer: pause acme/api"),
    (CHANNEL, "pause later on acme/api", "offer: pause acme/api"),
    (CHANNEL, "resume at 5pm acme/api", "offer: extend acme/api, or resume acme/api"),
    (CHANNEL, "unfreeze not yet acme/api", "offer: unfreeze acme/api"),
    (CHANNEL, "pause once @release is tested", "offer: pause @release"),
    (PAUSE_THREAD, "resume acme/site later", "offer: extend acme/site, or resume acme/site"),
    # Letters in another form are no reason to offer the same again.
    (CHANNEL, "pause \uff23\uff29/\uff23\uff24 is down", "refuse"),
    (CHANNEL, "pause ?", "pause acme/site"),
    (CHANNEL, "pause acme/api ?!", "pause acme/api"),
    (CHANNEL, "pause 🔥", "pause acme/site (🔥)"),
    # What is ended is the pause.
    (CHANNEL, "undo the pause", "offer: resume acme/site"),
    (CHANNEL, "remove the pause", "offer: resume acme/site"),
    (CHANNEL, "stop the pause of acme/api", "offer: resume acme/api"),
    (CHANNEL, "cancel bob's pause", "offer: resume acme/site"),
    (CHANNEL, "lift the freeze", "offer: unfreeze acme/site"),
    (DIRECT, "end the pause", "offer: resume"),
    (CHANNEL, "end the long pause", "offer: resume acme/site"),
    (CHANNEL, "stop the current pause", "offer: resume acme/site"),
    (CHANNEL, "kill every pause", "offer: resume acme/site"),
    (CHANNEL, "end the pause of acme/aip", "offer: resume acme/api"),
    (CHANNEL, "schedule a freeze tomorrow except:#0", "refuse"),
    # Nor is one begun where it isn't clear which is meant.
    (CHANNEL, "delete the planned pause", "help"),
    (PAUSE_THREAD, "lift that silly pause", "help"),
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
    # "All queues" names them; no word of it is the reason.
    (CHANNEL, "pause all queues", "pause @all"),
    (CHANNEL, "resume all queues", "resume @all"),
    (ELSEWHERE, "resume every queue please", "resume @all"),
    (CHANNEL, "pause all repos", "pause @all"),
    (
        CHANNEL,
        "pause all repositories until 18:00 CI is down",
        "pause @all until 18:00 (CI is down)",
    ),
    (CHANNEL, "pause all our queues CI is down", "pause @all (CI is down)"),
    (CHANNEL, "pause all of the merge queues", "pause @all"),
    (CHANNEL, "pause all of them 1h", "pause @all 1h"),
    (CHANNEL, "pause every repository: CI is down", "pause @all (CI is down)"),
    (CHANNEL, "pause each of the queues for 1h", "pause @all 1h"),
    (CHANNEL, "pause all queues because CI is down", "pause @all (because CI is down)"),
    (CHANNEL, "freeze all the queues until 18:00", "freeze @all until 18:00"),
    (
        CHANNEL,
        "freeze all queues until friday 18:00 release",
        "freeze @all until fri 18:00 (release)",
    ),
    (CHANNEL, "freeze every repo until 18:00", "freeze @all until 18:00"),
    (CHANNEL, "unfreeze all the repos shipped", "unfreeze @all (shipped)"),
    (CHANNEL, "resume all queues, CI is green", "resume @all (CI is green)"),
    (CHANNEL, "extend all queues by 30m", "extend @all 30m"),
    (CHANNEL, "pause @release queues 1h", "pause @release 1h"),
    (CHANNEL, "pause acme/* repos CI is down", "pause @acme/* (CI is down)"),
    (CHANNEL, "pause all repos are broken", "pause @all (repos are broken)"),
    (CHANNEL, "pause every test fails", "pause acme/site (every test fails)"),
    (CHANNEL, "pause the queues", "ask: pause @all, or pause acme/site"),
    (CHANNEL, "pause both queues 1h", "ask: pause @all, or pause acme/site"),
    # All merges may be those of one queue.
    (CHANNEL, "pause all merges", "ask: pause @all, or pause acme/site"),
    (CHANNEL, "pause all PRs 1h", "ask: pause @all, or pause acme/site"),
    (
        CHANNEL,
        "pause all pull requests until 5pm CI is down",
        "ask: pause @all (CI is down), or pause acme/site (CI is down)",
    ),
    (CHANNEL, "resume all merges", "ask: resume @all, or resume acme/site"),
    (
        CHANNEL,
        "pause all PRs are failing",
        "ask: pause @all (PRs are failing), or pause acme/site (all PRs are failing)",
    ),
    (
        CHANNEL,
        "pause all deploys fail",
        "ask: pause @all (deploys fail), or pause acme/site (all deploys fail)",
    ),
    (CHANNEL, "pause all merge queues", "pause @all"),
    # A queue that is left out is none that anybody may pause.
    (
        CHANNEL,
        "pause all except acme/api",
        "offer: pause acme/site, or pause acme/docs, or pause umbrella/docs",
    ),
    (CHANNEL, "resume @release but the api", "offer: resume acme/site"),
    (
        CHANNEL,
        "freeze everything except for acme/docs until 18:00",
        "offer: freeze acme/site, or freeze acme/api, or freeze umbrella/docs",
    ),
    (
        CHANNEL,
        "pause everything but CI",
        "ask: pause @all (but CI), or pause acme/site (everything but CI)",
    ),
    # An hour in the thread of a pause or a freeze is no pull request.
    (PAUSE_THREAD, "until 6", "offer: extend acme/api until 18:00, or extend acme/api until 06:00"),
    (PAUSE_THREAD, "till 6", "offer: extend acme/api until 18:00, or extend acme/api until 06:00"),
    (PAUSE_THREAD, "to 6", "offer: extend acme/api until 18:00, or extend acme/api until 06:00"),
    (PAUSE_THREAD, "by 6", "offer: extend acme/api until 18:00, or extend acme/api until 06:00"),
    (
        PAUSE_THREAD,
        "at 6 please",
        "offer: extend acme/api until 18:00, or extend acme/api until 06:00",
    ),
    (
        PAUSE_THREAD,
        "make it 6",
        "offer: extend acme/api until 18:00, or extend acme/api until 06:00",
    ),
    (
        PAUSE_THREAD,
        "end at 6",
        "offer: extend acme/api until 18:00, or extend acme/api until 06:00",
    ),
    (
        PAUSE_THREAD,
        "until 6?",
        "offer: extend acme/api until 18:00, or extend acme/api until 06:00",
    ),
    (
        PAUSE_THREAD,
        "until 6 o'clock",
        "offer: extend acme/api until 18:00, or extend acme/api until 06:00",
    ),
    (
        PAUSE_THREAD,
        "keep it until 6",
        "offer: extend acme/api until 18:00, or extend acme/api until 06:00",
    ),
    (
        PAUSE_THREAD,
        "hold until 6",
        "offer: extend acme/api until 18:00, or extend acme/api until 06:00",
    ),
    (
        PAUSE_THREAD,
        "extend until 6",
        "offer: extend acme/api until 18:00, or extend acme/api until 06:00",
    ),
    (
        FREEZE_THREAD,
        "until 6",
        "offer: extend acme/api until 18:00, or extend acme/api until 06:00",
    ),
    (
        FREEZE_THREAD,
        "end it at 6",
        "offer: extend acme/api until 18:00, or extend acme/api until 06:00",
    ),
    (
        FREEZE_THREAD,
        "shorten to 6",
        "offer: extend acme/api until 18:00, or extend acme/api until 06:00",
    ),
    (
        FREEZE_THREAD,
        "extend the freeze until 6",
        "offer: extend acme/api until 18:00, or extend acme/api until 06:00",
    ),
    (GROUP_THREAD, "till 6", "offer: extend @release until 18:00, or extend @release until 06:00"),
    (
        PAUSE_THREAD,
        "until tomorrow 6",
        "offer: extend acme/api until tomorrow 18:00, or extend acme/api until tomorrow 06:00",
    ),
    (PAUSE_THREAD, "until 18", "offer: extend acme/api until 18:00"),
    (
        PAUSE_THREAD,
        "until end of day",
        (
            "offer: extend acme/api until 17:00, or extend acme/api until 18:00, "
            "or extend acme/api until 00:00"
        ),
    ),
    (PAUSE_THREAD, "another hour", "offer: extend acme/api 1 hour"),
    (PAUSE_THREAD, "for 6 more hours", "offer: extend acme/api for 6 hours"),
    (PAUSE_THREAD, "another 6", "help"),
    (PAUSE_THREAD, "ends at 6?", "status acme/api"),
    (PAUSE_THREAD, "until 41", "status acme/api"),
    (PAUSE_THREAD, "6", "why acme/api #6"),
    (PAUSE_THREAD, "until #6", "why acme/api #6"),
    (PAUSE_THREAD, "what happened to 41", "why acme/api #41"),
    (CHANNEL, "until 6", "help"),
    (
        CHANNEL,
        "extend until 6",
        "offer: extend acme/site until 18:00, or extend acme/site until 06:00",
    ),
    # How far back, without its option.
    (CHANNEL, "log pr 41", "log acme/site #41"),
    (CHANNEL, "log api 2h", "log acme/api"),
    (CHANNEL, "audit 24h", "audit"),
    (CHANNEL, "status 2h", "refuse"),
    # Other words around topics.
    (CHANNEL, "subscribe this channel to api", "subscribe acme/api"),
    (CHANNEL, "subscribe merges and failures", "subscribe acme/site"),
    (CHANNEL, "unsubscribe from everything", "offer: unsubscribe acme/site"),
    (CHANNEL, "unsubscribe quiet", "refuse"),
    # Other words for a command.
    (CHANNEL, "statistics api", "offer: stats api"),
    (CHANNEL, "weekly", "offer: stats"),
    (CHANNEL, "reopen site", "offer: resume site"),
    (CHANNEL, "un-pause site", "resume acme/site"),
    (CHANNEL, "follow api", "offer: subscribe api"),
    (CHANNEL, "help how do I pause", "help pause"),
    # "The pause" and "now" beside the name of what is resumed.
    (CHANNEL, "resume the pause", "resume acme/site"),
    (CHANNEL, "resume the pause of api", "resume acme/api"),
    (CHANNEL, "resume api now", "resume acme/api"),
    (CHANNEL, "resume pause is over", "resume acme/site (pause is over)"),
    # Words around the number of a pull request.
    (CHANNEL, "remove 41 from the queue", "remove acme/site #41"),
    (CHANNEL, "remove 41 from the api queue now!", "remove acme/api #41"),
    (CHANNEL, "remove 41 because it's flaky", "offer: remove acme/site 41"),
    (CHANNEL, "remove 41 siet", "offer: remove 41 acme/site"),
    (CHANNEL, "remove 41 foo", "refuse"),
    (CHANNEL, "remove 41, 42", "offer: remove acme/site 41, or remove acme/site 42"),
    (CHANNEL, "why #41 !!", "why acme/site #41"),
    (CHANNEL, "why did PR 41 leave the queue?", "why acme/site #41"),
    (CHANNEL, "why was 41 dropped", "why acme/site #41"),
    (CHANNEL, "why did 41 fail on the api queue", "why acme/api #41"),
    (CHANNEL, "why 41 on some old branch", "offer: why 41"),
    (CHANNEL, "position of 41", "why acme/site #41"),
    (CHANNEL, "pause for 41", "pause acme/site (for 41), until when?"),
    # The address of an issue is no pull request's, and names no queue for sure.
    (CHANNEL, "https://github.com/acme/api/issues/41", "offer: why 41 acme/api"),
    (CHANNEL, "acme/api/issues/41", "offer: why 41 acme/api"),
    (CHANNEL, "https://gitlab.com/acme/api/-/issues/41", "offer: why 41 acme/api"),
    (CHANNEL, "why https://github.com/acme/api/issues/41", "offer: why 41 acme/api"),
    (CHANNEL, "status https://github.com/acme/api/issues/41", "offer: why 41 acme/api"),
    (CHANNEL, "log https://github.com/acme/api/issues/41", "offer: log 41 acme/api"),
    (CHANNEL, "remove https://github.com/acme/api/issues/41", "offer: remove 41 acme/api"),
    (CHANNEL, "allow https://github.com/acme/api/issues/41 hotfix", "offer: allow 41 acme/api"),
    (CHANNEL, "what happened to https://github.com/acme/api/issues/41", "help"),
    (
        CHANNEL,
        "pause https://github.com/acme/api/issues/41",
        (
            "ask: pause acme/api (https://github.com/acme/api/issues/41), "
            "or pause acme/site (https://github.com/acme/api/issues/41)"
        ),
    ),
    (
        CHANNEL,
        "pause acme/api https://github.com/acme/site/issues/41",
        "pause acme/api (https://github.com/acme/site/issues/41)",
    ),
    (CHANNEL, "https://github.com/acme/api/issues", "status acme/api"),
    (
        CHANNEL,
        "https://dashboard.mergify.com/queues?login=acme&repository=api&pullRequestNumber=41",
        "why acme/api #41",
    ),
    (CHANNEL, "https://dashboard.mergify.com/orgs/acme/repos/api/queues", "status acme/api"),
    # Whatever leaves a queue out, wherever it stands.
    (
        CHANNEL,
        "pause all repos apart from acme/api",
        "offer: pause acme/site, or pause acme/docs, or pause umbrella/docs",
    ),
    (
        CHANNEL,
        "resume all but not site",
        "offer: resume acme/api, or resume acme/docs, or resume umbrella/docs",
    ),
    (
        CHANNEL,
        "pause all 2h except acme/api",
        "offer: pause acme/site, or pause acme/docs, or pause umbrella/docs",
    ),
    (
        CHANNEL,
        "pause all CI is down except for acme/api",
        "offer: pause acme/site, or pause acme/docs, or pause umbrella/docs",
    ),
    (
        CHANNEL,
        "pause all but acme/api and acme/docs",
        "offer: pause acme/site, or pause umbrella/docs",
    ),
    (CHANNEL, "pause all except @release", "offer: pause acme/docs, or pause umbrella/docs"),
    (CHANNEL, "pause all except main", "refuse"),
    (
        CHANNEL,
        "pause not acme/api",
        "offer: pause acme/site, or pause acme/docs, or pause umbrella/docs",
    ),
    (CHANNEL, "pause all sauf acme/api", "ask: pause @all (sauf acme/api), or pause acme/api"),
    (CHANNEL, "pause all because acme/api broke", "pause @all (because acme/api broke)"),
    # Some queues are none that anybody may guess.
    (CHANNEL, "pause the other two", "refuse"),
    (CHANNEL, "resume the rest", "refuse"),
    (CHANNEL, "pause all the others", "refuse"),
    (CHANNEL, "pause every other queue", "refuse"),
    (CHANNEL, "pause all three queues", "refuse"),
    (CHANNEL, "pause all four queues", "pause @all"),
    (CHANNEL, "pause nothing", "refuse"),
    (CHANNEL, "pause nothing merges", "pause acme/site (nothing merges)"),
    (CHANNEL, "pause 3 runners down", "pause acme/site (3 runners down)"),
    (
        CHANNEL,
        "pause site and api",
        (
            "ask: pause @release, or pause acme/site, or pause acme/api, "
            "or pause acme/site (site and api)"
        ),
    ),
    (
        CHANNEL,
        "pause both api and site, CI is down",
        (
            "ask: pause @release (CI is down), or pause acme/api (CI is down), "
            "or pause acme/site (CI is down), or pause acme/site (api and site, CI is down)"
        ),
    ),
    (
        CHANNEL,
        "pause acme/api and acme/docs 45m",
        "ask: pause acme/api, or pause acme/docs",
    ),
    (CHANNEL, "status every queue", "status @all"),
    (CHANNEL, "is everything paused?", "status @all"),
    (CHANNEL, "take over all queues", "takeover @all"),
    # Not now.
    (CHANNEL, "pause later", "offer: pause acme/site"),
    (CHANNEL, "pause all if CI is red", "offer: pause @all"),
    (CHANNEL, "pause once more: CI is red", "pause acme/site (once more: CI is red)"),
    (CHANNEL, "freeze acme/api when 41 merges", "offer: freeze acme/api"),
    (PAUSE_THREAD, "resume not yet", "offer: extend acme/api, or resume acme/api"),
    (
        PAUSE_THREAD,
        "resume as soon as CI is green",
        "offer: extend acme/api, or resume acme/api",
    ),
    (CHANNEL, "unfreeze when shipped", "offer: unfreeze acme/site"),
    (FREEZE_THREAD, "unfreeze tomorrow", "offer: unfreeze acme/api"),
    (
        CHANNEL,
        "pause CI is down and resume at 5pm",
        "pause acme/site (CI is down and resume at 5pm), until when?",
    ),
    # The opposite, and help.
    (PAUSE_THREAD, "pause is over", "offer: resume acme/api"),
    (CHANNEL, "pause off", "offer: resume acme/site"),
    (CHANNEL, "freeze cancelled", "offer: unfreeze acme/site"),
    (CHANNEL, "pause end to end tests fail", "pause acme/site (end to end tests fail)"),
    (CHANNEL, "pause --help", "offer: help pause"),
    (CHANNEL, "pause status", "offer: status"),
    (CHANNEL, "stop pausing acme/api", "offer: resume acme/api"),
    (CHANNEL, "stop the queue from being paused", "help"),
    (CHANNEL, "nobody should pause", "help"),
    (PAUSE_THREAD, "stop it", "offer: resume acme/api"),
    (PAUSE_THREAD, "end it now", "offer: resume acme/api"),
    (CHANNEL, "stop the countdown", "offer: extend acme/site forever"),
    (CHANNEL, "cancel the timer of acme/api", "offer: extend acme/api forever"),
    (
        PAUSE_THREAD,
        "no, until 6",
        "offer: extend acme/api until 18:00, or extend acme/api until 06:00",
    ),
    (PAUSE_THREAD, "shorten it by 10m", "offer: extend acme/api"),
    (FREEZE_THREAD, "shorten it by 1h", "offer: extend acme/api"),
    (CHANNEL, "can we merge again?", "status acme/site"),
    (CHANNEL, "can we merge #41?", "help"),
    # One pull request, and how a freeze lets one through.
    (CHANNEL, "why 41 and 42 of acme/api", "offer: why 41 acme/api, or why 42 acme/api"),
    (CHANNEL, "why issue 41 acme/api", "offer: why 41 acme/api"),
    (
        CHANNEL,
        "freeze until 18:00 except #41 and #42",
        "offer: freeze acme/site until 18:00 except:#41 except:#42",
    ),
    (CHANNEL, "freeze except hotfix", "offer: freeze acme/site except:hotfix"),
    (
        CHANNEL,
        "freeze 2h except for the label hotfix cutting 4.2",
        "offer: freeze acme/site 2h cutting 4.2 except:hotfix",
    ),
    (CHANNEL, "freeze 2h except @bob", "offer: freeze acme/site 2h except:@bob"),
    (CHANNEL, "freeze without tests", "freeze acme/site (without tests)"),
    # "Later" behind the queue's name is later too.
    (PAUSE_THREAD, "resume the queue at 5pm", "offer: extend acme/api, or resume acme/api"),
    (PAUSE_THREAD, "resume it if CI is green", "offer: extend acme/api, or resume acme/api"),
    (CHANNEL, "resume the pause tomorrow", "offer: extend acme/site, or resume acme/site"),
    (PAUSE_THREAD, "resume the queue in 5", "offer: extend acme/api, or resume acme/api"),
    (
        CHANNEL,
        "resume the queue, 2 of 3 runners are back",
        "resume acme/site (the queue, 2 of 3 runners are back)",
    ),
    (FREEZE_THREAD, "unfreeze the queue tomorrow", "offer: unfreeze acme/api"),
    (CHANNEL, "pause the queue later", "offer: pause acme/site"),
    # Later and regularly: neither is a reason.
    (CHANNEL, "pause starting at 5pm", "offer: freeze acme/site from 5pm, or pause acme/site"),
    (
        CHANNEL,
        "pause acme/api as of 5pm deploy",
        "offer: freeze acme/api from 5pm deploy, or pause acme/api",
    ),
    (
        CHANNEL,
        "freeze starting at 5pm cutting 4.2",
        "offer: freeze acme/site from 5pm cutting 4.2, or freeze acme/site",
    ),
    (CHANNEL, "freeze starting lunch", "offer: freeze acme/site"),
    (PAUSE_THREAD, "resume starting 5pm", "offer: extend acme/api, or resume acme/api"),
    (CHANNEL, "pause every night at 5", "offer: pause acme/site"),
    (CHANNEL, "pause the queue each monday morning", "offer: pause acme/site"),
    (CHANNEL, "pause 2h every 2 days", "offer: pause acme/site 2h"),
    # A time behind the verb, without a space.
    (CHANNEL, "pause30m", "offer: pause acme/site 30m"),
    (CHANNEL, "pause:30m CI", "offer: pause acme/site 30m CI"),
    (CHANNEL, "pause-1h acme/api", "offer: pause 1h acme/api"),
    # Messages are no queue.
    (CHANNEL, "pause reminders", "offer: me reminders off, or pause acme/site because reminders"),
    (
        PAUSE_THREAD,
        "pause notifications please",
        "offer: me dm off, or pause acme/api because notifications please",
    ),
    (CHANNEL, "pause reminders are broken", "pause acme/site (reminders are broken)"),
    # A time alone is when a freeze begins, or when it ends.
    (CHANNEL, "freeze tomorrow 9am", "freeze acme/site (tomorrow 9am), until when?"),
    (CHANNEL, "freeze 17:00 cutting", "freeze acme/site (17:00 cutting), until when?"),
    (CHANNEL, "freeze tomorrow 9am acme/api x", "freeze acme/api (tomorrow 9am x), until when?"),
    (CHANNEL, "freeze all branches 2h", "ask: freeze @all, or freeze acme/site"),
    (CHANNEL, "freeze fri 5pm", "freeze acme/site (fri 5pm), until when?"),
    (CHANNEL, "freeze 17:00 19:00", "freeze acme/site (17:00 19:00), until when?"),
    (CHANNEL, "freeze 5pm 2h", "freeze acme/site (5pm 2h), until when?"),
    (CHANNEL, "freeze till 5pm", "freeze acme/site until 17:00"),
    (CHANNEL, "freeze untli 5pm", "freeze acme/site until 17:00"),
    (CHANNEL, "freeze from now to 5pm", "freeze acme/site until 17:00"),
    (CHANNEL, "pause 17:00 19:00", "pause acme/site (17:00 19:00), until when?"),
    (CHANNEL, "pause 5pm 2h", "pause acme/site (5pm 2h), until when?"),
    (CHANNEL, "pause tomorrow 9am", "pause acme/site until tomorrow 09:00"),
    (CHANNEL, "pause 15h \u00e0 17h", "pause acme/site (15h \u00e0 17h), until when?"),
    (CHANNEL, "pause 15h bis 17h", "pause acme/site (15h bis 17h), until when?"),
    (CHANNEL, "freeze noon-1pm", "freeze acme/site (noon-1pm), until when?"),
    (CHANNEL, "pause now-6pm", "pause acme/site (now-6pm), until when?"),
    (CHANNEL, "freeze today from 5pm", "freeze acme/site (today from 5pm), until when?"),
    (CHANNEL, "freeze christmas", "freeze acme/site (christmas), until when?"),
    (CHANNEL, "freeze black friday", "freeze acme/site (black friday), until when?"),
    (CHANNEL, "freeze the holidays", "freeze acme/site (the holidays), until when?"),
    (CHANNEL, "freeze christmas tree broke", "freeze acme/site (christmas tree broke)"),
    # A second queue behind the times.
    (
        CHANNEL,
        "pause acme/api 1h and acme/site",
        "offer: pause @release 1h, or pause acme/api 1h, or pause acme/site 1h",
    ),
    (
        CHANNEL,
        "freeze acme/api from 5pm to 7pm & acme/docs too",
        "offer: freeze acme/api from 5pm to 7pm, or freeze acme/docs from 5pm to 7pm",
    ),
    (CHANNEL, "pause acme/api 1h acme/site is down", "pause acme/api 1h (acme/site is down)"),
    # "All day" is no queue, and an end that nobody can say is none in the reason.
    (CHANNEL, "pause all day", "pause acme/site (all day), until when?"),
    (CHANNEL, "freeze all weekend", "freeze acme/site (all weekend), until when?"),
    (CHANNEL, "pause all night tests fail", "pause acme/site (all night tests fail)"),
    (CHANNEL, "pause rest of the day", "pause acme/site (rest of the day), until when?"),
    (CHANNEL, "pause for rest of day", "pause acme/site (for rest of day), until when?"),
    (CHANNEL, "pause for the next hour CI", "pause acme/site 1h (CI)"),
    (CHANNEL, "pause for the next day", "pause acme/site 1d"),
    (CHANNEL, "pause half hr", "pause acme/site 30m"),
    (CHANNEL, "pause until 9:00 12/1", "pause acme/site (until 9:00 12/1), until when?"),
    (CHANNEL, "pause first thing tomorrow", "pause acme/site (first thing tomorrow), until when?"),
    (CHANNEL, "pause in ten", "pause acme/site (in ten), until when?"),
    # An emoji hides no end and no name, nor does a mark without a space.
    (CHANNEL, "pause \U0001f525 30m CI is down", "pause acme/site 30m (CI is down)"),
    (CHANNEL, "pause :fire: until 5pm", "pause acme/site until 17:00"),
    (CHANNEL, "pause \U0001f525 acme/api CI is down", "pause acme/api (CI is down)"),
    (CHANNEL, "pause acme/api,30m", "pause acme/api 30m"),
    (CHANNEL, "pause 30m,CI is down", "pause acme/site 30m (CI is down)"),
    (CHANNEL, "pause until 5pm,CI", "pause acme/site until 17:00 (CI)"),
    (CHANNEL, "pause 1h,30m", "pause acme/site 1h30m"),
    (CHANNEL, "pause 5xx:errors", "pause acme/site (5xx:errors)"),
    (CHANNEL, "pause acme/api:30m CI is down", "pause acme/api 30m (CI is down)"),
    # Also in other languages.
    (CHANNEL, "pause morgen", "pause acme/site (morgen), until when?"),
    (CHANNEL, "pause demain matin", "pause acme/site (demain matin), until when?"),
    (CHANNEL, "freeze ab Freitag", "freeze acme/site (ab Freitag), until when?"),
    (CHANNEL, "freeze vendredi", "freeze acme/site (vendredi), until when?"),
    (CHANNEL, "freeze ab 15 Uhr Wartung", "freeze acme/site (ab 15 Uhr Wartung), until when?"),
    (
        CHANNEL,
        "freeze du 24 au 27 d\u00e9c",
        "freeze acme/site (du 24 au 27 d\u00e9c), until when?",
    ),
    (CHANNEL, "freeze 24. Dezember", "freeze acme/site (24. Dezember), until when?"),
    (CHANNEL, "pause anderthalb Stunden", "pause acme/site (anderthalb Stunden), until when?"),
    (CHANNEL, "pause un quart d'heure", "pause acme/site (un quart d'heure), until when?"),
    (CHANNEL, "pause kwartier deploy", "pause acme/site (kwartier deploy), until when?"),
    (CHANNEL, "pause heute CI kaputt", "pause acme/site (heute CI kaputt)"),
    (CHANNEL, "resume um 17 Uhr", "offer: extend acme/site, or resume acme/site"),
    # What says when to resume is no reason, also with words behind it.
    (CHANNEL, "resume in ten", "offer: extend acme/site, or resume acme/site"),
    (CHANNEL, "resume first thing monday", "offer: extend acme/site, or resume acme/site"),
    (
        CHANNEL,
        "resume acme/api in 20m CI is back",
        "offer: extend acme/api, or resume acme/api",
    ),
    (CHANNEL, "resume at 5pm, thanks bob", "offer: extend acme/site, or resume acme/site"),
    (CHANNEL, "unfreeze for 1 hour hotfix", "offer: unfreeze acme/site"),
    (
        CHANNEL,
        "resume acme/api 20m CI is back",
        "offer: extend acme/api, or resume acme/api",
    ),
    # Of several freezes, only the form asks which one.
    (CHANNEL, "unfreeze branch:main", "offer: unfreeze acme/site"),
    (CHANNEL, "unfreeze main", "offer: unfreeze acme/site"),
    (CHANNEL, "unfreeze master please", "offer: unfreeze acme/site"),
    (CHANNEL, "unfreeze main is green", "unfreeze acme/site (main is green)"),
    (CHANNEL, "unfreeze acme/api main branch", "offer: unfreeze acme/api"),
    (CHANNEL, "unfreeze friday's freeze", "offer: unfreeze acme/site"),
    (CHANNEL, "unfreeze the next freeze", "offer: unfreeze acme/site"),
    (CHANNEL, "unfreeze the 4.2 branch is cut", "unfreeze acme/site (the 4.2 branch is cut)"),
    (FREEZE_THREAD, "unfreeze branch:main", "offer: unfreeze acme/api"),
    (CHANNEL, "resume 3 deploys are done", "resume acme/site (3 deploys are done)"),
    (CHANNEL, "resume PR 41", "offer: why 41, or resume acme/site because of #41"),
    # From which day until which, in one word.
    (CHANNEL, "freeze mon-fri", "freeze acme/site (mon-fri), until when?"),
    (CHANNEL, "freeze 24.12.-27.12. x", "freeze acme/site (24.12.-27.12. x), until when?"),
    (CHANNEL, "pause red-green deploy broken", "pause acme/site (red-green deploy broken)"),
    (CHANNEL, "pause may-day release", "pause acme/site (may-day release)"),
    # In several words, or in months.
    (CHANNEL, "freeze dec 24-27", "freeze acme/site (dec 24-27), until when?"),
    (CHANNEL, "freeze december 24 to 27", "freeze acme/site (december 24 to 27), until when?"),
    (CHANNEL, "freeze 24-27 dec", "freeze acme/site (24-27 dec), until when?"),
    (CHANNEL, "freeze 24.-27.12. x", "freeze acme/site (24.-27.12. x), until when?"),
    (
        CHANNEL,
        "freeze dec 24 \u2013 jan 2 holidays",
        (
            "offer: freeze acme/site from 24 december 09:00 until 2 january 09:00 holidays, "
            "or freeze acme/site from 24 december 00:00 until 2 january 00:00 holidays"
        ),
    ),
    (CHANNEL, "freeze dec 24-jan 2", "freeze acme/site (dec 24-jan 2), until when?"),
    (CHANNEL, "freeze 24dec-27dec", "freeze acme/site (24dec-27dec), until when?"),
    (
        CHANNEL,
        "freeze 2026-12-24..2026-12-27",
        "freeze acme/site (2026-12-24..2026-12-27), until when?",
    ),
    (CHANNEL, "freeze dec-jan", "freeze acme/site (dec-jan), until when?"),
    (CHANNEL, "freeze december", "freeze acme/site (december), until when?"),
    (CHANNEL, "freeze in december", "freeze acme/site (in december), until when?"),
    (CHANNEL, "freeze mon through fri", "freeze acme/site (mon through fri), until when?"),
    (CHANNEL, "freeze sat & sun", "freeze acme/site (sat & sun), until when?"),
    (CHANNEL, "freeze 24 to 27", "freeze acme/site (24 to 27), until when?"),
    (CHANNEL, "freeze holidays dec 24-27", "freeze acme/site (holidays dec 24-27), until when?"),
    (CHANNEL, "pause dec 24 to 27", "pause acme/site (dec 24 to 27), until when?"),
    (CHANNEL, "freeze december release", "freeze acme/site (december release)"),
    (CHANNEL, "freeze for the march release", "freeze acme/site (for the march release)"),
    (CHANNEL, "pause 4.2-4.3 migration", "pause acme/site (4.2-4.3 migration)"),
    (CHANNEL, "pause 24 to 27 tests fail", "pause acme/site (24 to 27 tests fail)"),
    # A start that is now.
    (CHANNEL, "freeze from now until 6pm x", "freeze acme/site until 18:00 (x)"),
    (CHANNEL, "freeze starting now 2h x", "freeze acme/site 2h (x)"),
    (CHANNEL, "freeze 2h starting now x", "freeze acme/site 2h (x)"),
    (CHANNEL, "pause from now until 6pm", "pause acme/site until 18:00"),
    (CHANNEL, "pause from now on to 6pm x", "pause acme/site until 18:00 (x)"),
    (CHANNEL, "pause starting now for 2h x", "pause acme/site 2h (x)"),
    (CHANNEL, "pause acme/api, starting now, until 6pm x", "pause acme/api until 18:00 (x)"),
    (CHANNEL, "pause the queue starting now for 2h", "pause acme/site 2h"),
    (CHANNEL, "pause site effective immediately 2h x", "pause acme/site 2h (x)"),
    (CHANNEL, "pause as of right now: CI is down", "pause acme/site (CI is down)"),
    (CHANNEL, "pause starting immediately for 2h", "pause acme/site 2h"),
    (CHANNEL, "pause from now until 6", "pause acme/site (until 6), until when?"),
    (CHANNEL, "pause from now to 6", "pause acme/site (to 6), until when?"),
    (CHANNEL, "pause from nowhere it broke", "pause acme/site (from nowhere it broke)"),
    # A start behind the length.
    (CHANNEL, "freeze 2h at 5pm", "freeze acme/site from 17:00 2h"),
    (CHANNEL, "freeze 1h in 2h", "freeze acme/site in 2h 1h"),
    (CHANNEL, "freeze acme/api 2h at 5pm please", "freeze acme/api from 17:00 2h"),
    (
        CHANNEL,
        "freeze for 2h tomorrow",
        (
            "offer: freeze acme/site from tomorrow 09:00 2h, or freeze acme/site from "
            "tomorrow 00:00 2h, or freeze acme/site 2h"
        ),
    ),
    (
        CHANNEL,
        "freeze tomorrow for 2h",
        (
            "offer: freeze acme/site from tomorrow 09:00 2h, or freeze acme/site from "
            "tomorrow 00:00 2h"
        ),
    ),
    (
        CHANNEL,
        "freeze 2h at 5pm deploys fail",
        (
            "offer: freeze acme/site from 17:00 2h deploys fail, or freeze acme/site 2h "
            "because at 5pm deploys fail"
        ),
    ),
    (
        CHANNEL,
        "freeze 2h starting 5pm",
        ("offer: freeze acme/site from 5pm for 2h, or freeze acme/site 2h"),
    ),
    (
        CHANNEL,
        "pause 2h at 5pm",
        ("offer: freeze acme/site from 17:00 2h, or pause acme/site 2h"),
    ),
    (
        CHANNEL,
        "pause 2h on friday we ship",
        (
            "offer: freeze acme/site from fri 09:00 2h we ship, or pause acme/site 2h "
            "because on friday we ship, or freeze acme/site from fri 00:00 2h we ship"
        ),
    ),
    (
        CHANNEL,
        "pause 30m in 5 minutes we deploy",
        (
            "offer: freeze acme/site from in 5m 30m we deploy, or pause acme/site 30m "
            "because in 5 minutes we deploy"
        ),
    ),
    (CHANNEL, "pause 45m 5 runners are down", "pause acme/site 45m (5 runners are down)"),
    (CHANNEL, "pause 45m today CI is flaky", "pause acme/site 45m (today CI is flaky)"),
    (CHANNEL, "pause 45m in CI all is red", "pause acme/site 45m (in CI all is red)"),
    (CHANNEL, "pause 45m at the moment CI is red", "pause acme/site 45m (at the moment CI is red)"),
    (CHANNEL, "freeze daily at 17:00", "offer: freeze acme/site"),
    (FREEZE_THREAD, "unfreeze weekends", "offer: unfreeze acme/api"),
    (CHANNEL, "pause starting today", "pause acme/site (starting today)"),
    (CHANNEL, "pause starting release 4.2", "pause acme/site (starting release 4.2)"),
    (CHANNEL, "pause starting 2 deploys", "pause acme/site (starting 2 deploys)"),
    (CHANNEL, "pause every build fails", "pause acme/site (every build fails)"),
    (CHANNEL, "pause every night build broke", "pause acme/site (every night build broke)"),
    (CHANNEL, "pause daily deploy is broken", "pause acme/site (daily deploy is broken)"),
    (CHANNEL, "pause every 2nd build is red", "pause acme/site (every 2nd build is red)"),
    # Where a group is meant, the question names it.
    (
        GROUP_THREAD,
        "resume only acme/site",
        "ask: resume acme/site (only acme/site), or resume @release (only acme/site)",
    ),
    (
        GROUP_THREAD,
        "resume api is back",
        "ask: resume acme/api (is back), or resume @release (api is back)",
    ),
    (CHANNEL, "pause at 5", "pause acme/site (at 5), until when?"),
    (CHANNEL, "pause in 5", "pause acme/site (in 5), until when?"),
    (CHANNEL, "pause by 41", "pause acme/site (by 41)"),
    # An owner is named for its own queues, and "else" and "it all" name none.
    (CHANNEL, "pause all queues of acme", "offer: pause acme/*"),
    (CHANNEL, "resume umbrella queues", "offer: resume umbrella/*"),
    (CHANNEL, "pause acme", "offer: pause acme/*"),
    (CHANNEL, "pause all acme is down", "pause @all (acme is down)"),
    (CHANNEL, "pause everything else", "refuse"),
    (CHANNEL, "pause them all", "refuse"),
    (
        CHANNEL,
        "pause all, but keep acme/api running",
        "offer: pause acme/site, or pause acme/docs, or pause umbrella/docs",
    ),
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
        "ask: resume acme/api, or resume acme/docs",
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

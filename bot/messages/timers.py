"""What is said about pauses that lift themselves, and the controls that give them another end."""

import json
from datetime import datetime

from bot.domain.audit import AuditRecord
from bot.domain.durations import UNTIL, For, Lasting, written
from bot.domain.message import Block, Message, View
from bot.domain.pause_records import EXTENSIONS, LATE, PauseRecord
from bot.domain.pauses import REASON_LIMIT
from bot.domain.repository import RepositoryName
from bot.messages import actions, blocks
from bot.messages.text import NAME_LIMIT, duration, escape, local_time, quote, utc_time

OTHER = "other"

LENGTHS = ("15m", "30m", "1h", "2h", "4h", "1d")
NO_END = "until somebody resumes it"


STILL_TRYING = "still trying"


def lifts(at: datetime | None, *, is_overdue: bool = False) -> str:
    """The fact on a pause's line of facts, empty where it does not lift itself.

    `is_overdue`: it should have, and that was tried.
    """
    return "" if at is None else _lifts(local_time(at), is_overdue=is_overdue)


def lifts_text(at: datetime | None, *, is_overdue: bool = False) -> str:
    """The same as a sentence in plain text goes on."""
    return "" if at is None else f", {_lifts(utc_time(at), is_overdue=is_overdue)}"


def _lifts(at: str, *, is_overdue: bool) -> str:
    return f"should have resumed {at}; {STILL_TRYING}" if is_overdue else f"resumes {at}"


def extended(record: AuditRecord) -> Message:
    """The post about a new end."""
    name = quote(record.actor.name, NAME_LIMIT)
    repository = escape(record.repository)
    end = record.lifts_at or record.at
    return Message(
        text=f"{repository} now resumes {utc_time(end)}, set by {name}",
        blocks=(
            blocks.section(f":alarm_clock: *{repository}* now {lifts(end)}"),
            blocks.context(f"set by {name}"),
        ),
    )


def late_by(at: datetime | None, lifts_at: datetime | None) -> str:
    """Empty unless it is worth saying that the timer was late."""
    if at is None or lifts_at is None or at - lifts_at < LATE:
        return ""
    return f"{duration(at - lifts_at)} late"


def void(record: AuditRecord) -> Message:
    """The post about a timer that found another pause."""
    name = quote(record.actor.name, NAME_LIMIT)
    repository = escape(record.repository)
    reason = quote(record.previous_reason or "", REASON_LIMIT)
    text = (
        f"The timer that {name} set for {repository} did nothing: "
        f"another pause is in force: {reason}"
    )
    return Message(text=text, blocks=(blocks.section(f":alarm_clock: {text}"),))


def extend_menu(
    repository: RepositoryName, paused_at: datetime, lifts_at: datetime | None
) -> blocks.Element:
    """*Extend…*: later by so much, or another time; *Set an end…* where there is none."""
    target = actions.option_target(repository, paused_at)
    return end_menu(target, actions.EXTEND, escape(repository) if lifts_at is None else None)


def end_menu(target: str, action_id: str, endless: str | None) -> blocks.Element:
    """`endless` is what has no end yet, escaped; None where there is one to be moved."""
    if endless is None:
        options = [
            blocks.option(f"{duration(one)} more", actions.extend_value(one, target))
            for one in EXTENSIONS
        ]
        options.append(blocks.option("Another time…", f"{OTHER} {target}"))
        return blocks.select("Extend…", action_id=action_id, options=options)
    options = [
        blocks.option(f"in {duration(one)}", actions.FROM_NOW + actions.extend_value(one, target))
        for one in EXTENSIONS
    ]
    options.append(blocks.option("Another time…", f"{actions.FROM_NOW}{OTHER} {target}"))
    question = blocks.confirmation(
        "Set an end?",
        f"{endless} stays paused until somebody resumes it. With an end it resumes by itself.",
        confirm="Set an end",
        deny="Cancel",
        style="primary",
    )
    return blocks.select("Set an end…", action_id=action_id, options=options, confirm=question)


def other_end(repository: RepositoryName, known: PauseRecord) -> Message:
    """A menu was used that was drawn before the pause got an end, or lost it."""
    name = escape(repository)
    if known.lifts_at is None:
        return blocks.sentence(
            f"Nothing was changed: the pause of {name} has no end to extend. Use *Set an end…*."
        )
    text = f"Nothing was changed: the pause of {name} has an end already. It"
    return Message(
        text=f"{text} {_lifts(utc_time(known.lifts_at), is_overdue=known.is_overdue)}.",
        blocks=(blocks.section(f"{text} {lifts(known.lifts_at, is_overdue=known.is_overdue)}."),),
    )


def extend_modal(
    repository: RepositoryName, target: str, channel_id: str | None, *, had_end: bool = True
) -> View:
    """Asks for the new end in the same words as the command."""
    return extend_form(escape(repository), target, channel_id, actions.EXTEND_VIEW, had_end=had_end)


def extend_form(
    what: str, target: str, channel_id: str | None, callback_id: str, *, had_end: bool = True
) -> View:
    """Of `what`, escaped; `target` says to the bot which pause it is, or which group.

    `had_end`: there is an end to be moved.
    """
    title = "Extend a pause" if had_end else "Set an end"
    label = "How much longer, or until when" if had_end else "How long from now, or until when"
    return View(
        {
            "type": "modal",
            "callback_id": callback_id,
            "title": blocks.plain(title, 24),
            "submit": blocks.plain("Extend" if had_end else "Set end", 24),
            "close": blocks.plain("Cancel", 24),
            "private_metadata": json.dumps(
                {"target": target, "channel": channel_id, "had_end": had_end}
            ),
            "blocks": [
                dict(blocks.section(f"*{what}*")),
                {
                    "type": "input",
                    "block_id": actions.LASTING_BLOCK,
                    "label": blocks.plain(label, 2000),
                    "hint": blocks.plain("45m, 2h, 1h30m, until 15:00", 2000),
                    "element": {
                        "type": "plain_text_input",
                        "action_id": actions.LASTING_ACTION,
                        "max_length": 60,
                        "focus_on_load": True,
                    },
                },
            ],
        }
    )


def lasting_input(typed: str | None = None) -> Block:
    """The optional field of the pause form; what was typed already is chosen."""
    options = [blocks.option(f"for {length}", length) for length in LENGTHS]
    initial = blocks.option(said(typed), typed) if typed is not None else None
    if initial is not None:
        options = [initial, *(one for one in options if one["value"] != typed)]
    return {
        "type": "input",
        "block_id": actions.LASTING_BLOCK,
        "optional": True,
        "label": blocks.plain("How long", 2000),
        "element": blocks.select(
            f"Stays paused {NO_END}",
            action_id=actions.LASTING_ACTION,
            options=options,
            initial=initial,
        ),
    }


def said(typed: str) -> str:
    """A duration as it was typed, in words that say how long."""
    return typed if typed.startswith(UNTIL) else f"for {typed}"


def spelled(lasting: Lasting) -> str:
    """A duration as people write it: "45 min", "until 15:00"."""
    return duration(lasting.length) if isinstance(lasting, For) else written(lasting)


def extended_reply(record: AuditRecord) -> Message:
    """To the actor alone, where the channel is not told by a post."""
    end = record.lifts_at or record.at
    text = f":alarm_clock: The pause of {escape(record.repository)} {lifts(end)}."
    return blocks.sentence(text)


def working_modal() -> View:
    text = ":hourglass_flowing_sand: Setting the new end …"
    return View(
        {
            "type": "modal",
            "callback_id": f"{actions.EXTEND_VIEW}_result",
            "title": blocks.plain("Extend a pause", 24),
            "close": blocks.plain("Close", 24),
            "private_metadata": "{}",
            "blocks": [dict(blocks.section(text))],
        }
    )

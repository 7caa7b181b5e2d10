"""Replies, posts and forms about freezes that people make, change and end."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial

from pydantic import JsonValue

from bot.acts.asked import EXCEPTIONS, NOTHING_ASKED, Asked
from bot.acts.reason import REASON_LIMIT
from bot.acts.record import Action, AuditRecord
from bot.blocks import blocks, controls as block_controls, modal
from bot.blocks.controls import Repeat
from bot.blocks.groups import name_of, named, names
from bot.blocks.message import Block, Message, View
from bot.blocks.overview import GROUP_QUEUES_PER_PAGE as GROUP_PAGE, overview
from bot.blocks.targets import target_menu
from bot.blocks.text import (
    NAME_LIMIT,
    by_count,
    clean,
    code,
    escape,
    listed,
    literal,
    local_time,
    plural,
    quote,
    time_ago,
)
from bot.freezes import actions as freeze_actions
from bot.freezes.freeze import Freeze, Stage
from bot.freezes.outcomes import FreezeOutcome, FreezesAsTheyWere
from bot.freezes.texts.cards import (
    FREEZE_MARK,
    FREEZES_LISTED,
    freeze_facts,
    freeze_period,
    labelled,
)
from bot.freezes.texts.together import NO_REASON, holding_too, still_frozen
from bot.freezes.windows import is_of_window
from bot.kernel.errors import ActState
from bot.kernel.groups import Group, GroupAnswers, Target, target_value
from bot.kernel.repository import RepositoryName
from bot.merge_queue.freezes import FreezeTerms
from bot.pauses import actions as pause_actions
from bot.pauses.texts import ends as pause_ends, form as pause_form, outcomes as pause_outcomes

END = "End now…"


CANCEL = "Cancel…"


BEFORE = frozenset({Stage.PLANNED, Stage.ANNOUNCED})


STAYS_FROZEN = "stays frozen until someone ends it. With an end time, it ends automatically."


READING_FREEZES = "Reading the freezes …"


UNREADABLE_FREEZES = "The freezes couldn't be read just now; you can still end this one."


STOP_MERGING = "freeze"


STOP_CHECKS = "pause"


QUEUE_UNREAD_FREEZE = "The queue couldn't be read just now; you can still freeze it."


ANY_QUEUE = "any"
"""The value of *Plan a freeze…*; no repository and no group is called like this."""


TIMES_HINT = (
    "Such as 2h, until 15:00, or from Friday 6pm until Monday 8am, in your own time zone. Leave it "
    "empty to wait until somebody ends it."
)


CHOICES_MOST = 5
"""Freezes of which a form lets people choose one; of more, an answer with buttons asks."""

LISTED_LIMIT = 500
"""Characters of the fields for branches and exceptions."""


def _by_maker(known: Freeze) -> str:
    return f"by {quote(known.by, NAME_LIMIT)}" if known.by else ""


def _why(known: Freeze) -> str:
    return literal(known.reason, REASON_LIMIT)


def controls(freeze: Freeze, label: str = END) -> list[blocks.Element]:
    """*End now…* and *Extend…*, for the freeze as the service knows it.

    None before its id is known. `label`: of the button that ends it.
    """
    if freeze.freeze_id is None:
        return []
    value = block_controls.control_value(freeze.repository, freeze.freeze_id)
    endless = escape(freeze.repository) if freeze.ends_at is None else None
    return [
        blocks.button(label, action_id=freeze_actions.UNFREEZE, value=value),
        pause_ends.end_menu(value, freeze_actions.FREEZE_END, endless, STAYS_FROZEN),
    ]


def card_controls(freeze: Freeze) -> list[blocks.Element]:
    """The same for its card."""
    if freeze.stage not in BEFORE:
        return controls(freeze)
    return controls(freeze, "Skip this one…" if is_of_window(freeze.by) else CANCEL)


def _listed_controls(freeze: Freeze, now: datetime) -> list[blocks.Element]:
    """The same in a list; one that hasn't begun can be moved there too."""
    if freeze.has_begun(now):
        return controls(freeze)
    shown = controls(freeze, CANCEL)
    if freeze.freeze_id is not None:
        value = block_controls.control_value(freeze.repository, freeze.freeze_id)
        shown.append(move_button(freeze.repository, freeze_actions.FREEZE_MOVE, value))
    return shown


def move_button(repository: RepositoryName, action_id: str, value: str) -> blocks.Element:
    spoken = f"Move: freeze of {repository}"
    return blocks.button("Move…", action_id=action_id, value=value, spoken=spoken)


def freeze_post(known: Freeze, now: datetime, others: Sequence[Freeze] = ()) -> Message:
    """The post in a channel that gets no card of the freeze.

    `others`: those that hold merges with it, without a gap.
    """
    word = "Queue frozen" if known.has_begun(now) else "Freeze planned"
    return blocks.post(
        f"{FREEZE_MARK} *{word}* {escape(known.repository)}: {_why(known)}",
        _by_maker(known),
        *freeze_facts(known.terms),
        details=[holding_too(known, others)],
        buttons=controls(known),
    )


def frozen_reply(known: Freeze, now: datetime, others: Sequence[Freeze] = ()) -> Message:
    """To the actor; the channel sees more."""
    if not known.has_begun(now):
        return _says(known, "A freeze of {} is planned {}.", others)
    return _says(known, "{} is frozen {}. Checks continue.", others)


def end_changed(known: Freeze, others: Sequence[Freeze] = ()) -> Message:
    return _says(known, "The freeze of {} now holds {}.", others)


def gone(repository: RepositoryName) -> Message:
    """To a person who moves what is over, has begun, or was skipped meanwhile."""
    return blocks.sentence(
        f"That time of {escape(repository)} isn't planned any more. Nothing was changed."
    )


def start_passed(repository: RepositoryName) -> Message:
    """To a person who tries again to move a freeze to a start that is past by now."""
    return blocks.sentence(
        f"The start that you picked for the freeze of {escape(repository)} has passed. Nothing was "
        "changed."
    )


def window_moved(made: Freeze, now: datetime) -> Message:
    """To the person who moved an occurrence of a window: the freeze in its place."""
    return blocks.message(
        *frozen_reply(made, now).blocks,
        blocks.context("It takes the place of the recurring one this time"),
    )


def window_not_skipped(made: Freeze, earlier: AuditRecord, now: datetime) -> Message:
    """To the person who moved an occurrence that was made or skipped meanwhile: both stay.

    `earlier`: the act that made or skipped it.
    """
    return blocks.message(*frozen_reply(made, now).blocks, blocks.section(_occurred(earlier)))


def _occurred(earlier: AuditRecord) -> str:
    """What had become of the occurrence, and what to do about it."""
    ago = time_ago(earlier.at)
    if earlier.action is Action.SKIP:
        name = quote(earlier.actor.name, NAME_LIMIT)
        return f"{name} skipped the recurring one {ago} already."
    if earlier.action is Action.FREEZE:
        return (
            f"I didn't skip the recurring freeze, because it was made {ago}. You can end either "
            "freeze."
        )
    return (
        f"I didn't skip the recurring pause, because it began {ago}. You can resume the queue, or "
        "cancel the new freeze."
    )


def _says(known: Freeze, text: str, others: Sequence[Freeze]) -> Message:
    facts = ", ".join(filter(None, freeze_facts(known.terms)))
    said = f"{FREEZE_MARK} {text.format(escape(known.repository), facts)}"
    return blocks.post(said, details=[holding_too(known, others)])


def freezes(repository: RepositoryName, known: Sequence[Freeze], now: datetime) -> Message:
    """Those in force and to come, each with its buttons."""
    if not known:
        return blocks.sentence(f"{escape(repository)} has no freeze in force or planned.")
    shown = [blocks.section(f"{FREEZE_MARK} *Freezes of {escape(repository)}*")]
    for freeze in known[:FREEZES_LISTED]:
        begun = "In force" if freeze.has_begun(now) else "Planned"
        shown += [
            blocks.section(f"*{begun}:* {_why(freeze) or NO_REASON}"),
            *labelled(freeze.by, freeze.terms),
            blocks.actions(_listed_controls(freeze, now)),
        ]
    if known[FREEZES_LISTED:]:
        shown.append(blocks.context(f"and {len(known) - FREEZES_LISTED:,} more"))
    return blocks.message(*shown)


def frozen_not_paused(
    repository: RepositoryName, known: Sequence[Freeze], now: datetime
) -> Message:
    """To a person who resumes or extends the pause of a queue that is frozen instead."""
    said = f"{escape(repository)} isn't paused, it's frozen. Nothing was changed."
    return blocks.message(blocks.section(said), *freezes(repository, known, now).blocks[1:])


def freezes_of_group(group: Group, found: GroupAnswers[list[Freeze]], now: datetime) -> Message:
    """The freezes of each queue, the first one in words."""
    frozen_now = sum(any(freeze.has_begun(now) for freeze in known) for known in found.known)
    count = f"{frozen_now:,} of {plural(len(found.known), 'queue')} frozen"
    title = f"{FREEZE_MARK} *{name_of(group.name)}: {count}*"
    command = f"freezes {group.mention}"
    say = partial(_in_short, now=now)
    return overview(title, found, say, command=command, size=GROUP_PAGE)


def _in_short(known: Sequence[Freeze], now: datetime) -> str:
    if not known:
        return "no freeze"
    first = min(known, key=lambda freeze: not freeze.has_begun(now))
    state = "frozen" if first.has_begun(now) else "freeze planned"
    facts = [f"{state} {_by_maker(first)}".rstrip(), freeze_period(first.terms), _why(first)]
    if known[1:]:
        facts.append(f"and {len(known) - 1:,} more")
    return " · ".join(filter(None, facts))


def why_unchanged(
    repository: RepositoryName,
    found: FreezeOutcome,
    now: datetime,
    pull_request: int | None = None,
) -> Message:
    """Why nothing was changed. `pull_request`: the one that was to be let through."""
    name = escape(repository)
    nothing = "Nothing was changed"
    match found.because:
        case FreezesAsTheyWere.FROZEN:
            return _already(found.freezes[0], now)
        case FreezesAsTheyWere.SEVERAL:
            question = blocks.section(f"{name} has several freezes. Which one?")
            return blocks.message(question, *freezes(repository, found.freezes, now).blocks[1:])
        case FreezesAsTheyWere.ONLY_PLANNED:
            question = blocks.section(
                f"{name} isn't frozen now; a freeze is planned. {nothing}. To cancel a planned "
                "freeze, use its button."
            )
            return blocks.message(question, *freezes(repository, found.freezes, now).blocks[1:])
        case FreezesAsTheyWere.OTHER_END | FreezesAsTheyWere.OTHER_TIMES | FreezesAsTheyWere.BEGUN:
            said = f"{nothing}: {_otherwise(found.freezes[0], found.because)}"
        case FreezesAsTheyWere.EXCEPTED:
            said = f"#{pull_request} is already an exception of the freeze of {name}. {nothing}"
        case _:
            said = f"{_not_frozen(name, found)}. {nothing}"
            if found.beside:
                listed = freezes(repository, found.beside, now).blocks[1:]
                return blocks.message(blocks.section(f"{said}."), *listed)
    return blocks.sentence(f"{said}.")


def _not_frozen(name: str, found: FreezeOutcome) -> str:
    """Who ended the freeze last, if known; others may be in force."""
    over = f"That freeze of {name} is over"
    ended = found.ended
    if ended is not None:
        why = f": {literal(ended.reason, REASON_LIMIT)}" if ended.reason else ""
        return f"{over}. {quote(ended.actor.name, NAME_LIMIT)} ended it {time_ago(ended.at)}{why}"
    return over if found.beside else f"{name} isn't frozen"


def _otherwise(freeze: Freeze, because: FreezesAsTheyWere) -> str:
    """How the freeze is, which is not how the button or the form showed it."""
    name = escape(freeze.repository)
    if because is FreezesAsTheyWere.BEGUN:
        return f"the freeze of {name} has begun, so it can't be moved"
    if because is FreezesAsTheyWere.OTHER_TIMES:
        period = freeze_period(freeze.terms)
        return f"somebody else has moved the freeze of {name}. It now holds {period}"
    ends_at = freeze.ends_at
    end = f"It ends {local_time(ends_at)}" if ends_at is not None else "It has no end"
    return f"the end of the freeze of {name} has changed. {end}"


def _already(known: Freeze, now: datetime) -> Message:
    name = escape(known.repository)
    by = f" {_by_maker(known)}" if known.by else ""
    state = f"{name} is already frozen{by}"
    if not known.has_begun(now):
        state = f"A freeze of {name} is already planned{by} for that time"
    return blocks.post(
        f"{FREEZE_MARK} {state}: {_why(known)}",
        *freeze_facts(known.terms),
        "Nothing was changed.",
        buttons=controls(known),
    )


def not_your_freeze(known: Freeze) -> Message:
    """To a machine that ends only the freezes it made, unless it says otherwise."""
    by = f" {_by_maker(known)}" if known.by else ""
    return blocks.sentence(
        f"{FREEZE_MARK} {escape(known.repository)} is frozen{by}: {_why(known)}. That isn't "
        "your freeze, so nothing was changed; `--any` (in JSON: `any`) ends it."
    )


def unfrozen(
    ended: Sequence[Freeze], by: str, reason: str, others: Sequence[Freeze] = ()
) -> Message:
    """The post about freezes of one repository that somebody ended; `others` are still in force."""
    why = listed([_why(freeze) for freeze in ended if freeze.reason], "; ")
    name = escape(ended[0].repository)
    return blocks.post(
        f":arrow_forward: *Freeze ended* {name}: {literal(reason, REASON_LIMIT)}",
        f"by {quote(by, NAME_LIMIT)}",
        f"Reason was: {why}" if why else "",
        details=[still_frozen(others)],
    )


def unfrozen_reply(ended: Sequence[Freeze], others: Sequence[Freeze] = ()) -> Message:
    """Which freeze it was, from when until when, and the `others` that are still in force."""
    known = ended[0]
    period = freeze_period(known.terms)
    return blocks.post(
        f":arrow_forward: The freeze of {escape(known.repository)} has ended.",
        f"Reason was: {_why(known)}" if known.reason else "",
        period and f"it was {period}",
        details=[still_frozen(others)],
    )


def of_which(known: Sequence[Freeze], now: datetime) -> str:
    """In the form that ends a freeze: which one, from when until when; of several, by number."""
    choices = which_freeze(known)
    lines = []
    for number, freeze in enumerate(known, start=1):
        state = "In force" if freeze.has_begun(now) else "Planned"
        facts = [_by_maker(freeze), *freeze_facts(freeze.terms)]
        line = f"{state}: {_why(freeze)} · {' · '.join(fact for fact in facts if fact)}"
        lines.append(f"{number}. {line}" if choices else line)
    return listed(lines, "\n", most=max(FREEZES_LISTED, len(choices)))


def which_freeze(known: Sequence[Freeze]) -> list[blocks.Option]:
    """A choice for each of several freezes; none if there are more than a form can show."""
    if not 1 < len(known) <= CHOICES_MOST or any(freeze.freeze_id is None for freeze in known):
        return []
    return [
        blocks.option(
            clean(f"{number}. {freeze.reason or NO_REASON}", blocks.OPTION_LIMIT),
            block_controls.control_value(freeze.repository, freeze.freeze_id or ""),
        )
        for number, freeze in enumerate(known, start=1)
    ]


def in_the_way(found: Sequence[Freeze], now: datetime) -> str:
    """Of a group: the queues that a freeze would leave as they are."""
    words = {True: "frozen", False: "planned"}
    said = [
        f"{escape(freeze.repository)} ({words[freeze.has_begun(now)]}"
        f"{' ' + _by_maker(freeze) if freeze.by else ''})"
        for freeze in found
    ]
    return f"Already frozen or planned, left as they are: {listed(said)}." if said else ""


def all_in_the_way(found: Sequence[Freeze], now: datetime) -> Message:
    """Instead of the question about a group in which nothing would change."""
    return blocks.sentence(f"{FREEZE_MARK} {in_the_way(found, now)} Nothing was changed.")


def partly_allowed(
    pull_request: int, outcome: FreezeOutcome, failure: str, repeat: Repeat | None = None
) -> Message:
    """To the actor: which freezes let the pull request merge, and for which it waits.

    `failure`: escaped. `repeat`: asks for the rest.
    """
    name = escape(outcome.left[0].repository)
    headline = f"{name}: #{pull_request} is still held by a freeze:"
    follows = ""
    first_left = "holds it"
    act = outcome.error.act if outcome.error is not None else None
    if act is not None and act.state is ActState.UNCERTAIN:
        headline, follows = pause_outcomes.failed_act_in_words(act)
        first_left = "I can't tell yet"
    lines = [f"• {_why(known) or NO_REASON}: lets it merge" for known in outcome.freezes]
    for index, known in enumerate(outcome.left):
        state = "holds it" if index else first_left
        lines.append(f"• {_why(known) or NO_REASON}: {state}")
    said = " ".join(filter(None, [f":warning: {headline}", failure, follows]))
    buttons = []
    if repeat is not None and len(repeat.value) <= blocks.VALUE_LIMIT:
        again = pause_outcomes.again(act)
        buttons = [blocks.button(again, action_id=repeat.action_id, value=repeat.value)]
    return blocks.post(said, details=[listed(lines, "\n")], buttons=buttons)


def allowed(pull_request: int, known: Sequence[Freeze], by: str, reason: str) -> Message:
    """The post about a pull request that may merge during a freeze."""
    frozen_for = listed([_why(freeze) for freeze in known if freeze.reason], "; ")
    return blocks.post(
        f"{FREEZE_MARK} *#{pull_request} of {escape(known[0].repository)} may merge during the "
        f"freeze:* {literal(reason, REASON_LIMIT)}",
        f"by {quote(by, NAME_LIMIT)}",
        f"The freeze is for: {frozen_for}" if frozen_for else "",
    )


def allow_unknown(repository: RepositoryName, pull_request: int, reason: str) -> Message:
    """The question before letting through a pull request that nobody has seen."""
    name = escape(repository)
    return blocks.post(
        f"I don't know #{pull_request} of {name}: it isn't in the queue, and the event log doesn't "
        "mention it. Nothing was changed.",
        "Check the number. You can also let a pull request merge before it is queued.",
        buttons=[
            blocks.button(
                f"Let #{pull_request} merge anyway",
                action_id=block_controls.RETRY,
                value=f"allow now #{pull_request} {repository} {reason}",
            ),
            blocks.button("Leave it", action_id=block_controls.DISMISS, value="no"),
        ],
    )


def confirm_freeze(
    where: Target,
    asked: Asked,
    terms: FreezeTerms,
    queued: int | None,
    command: str,
    left: str = "",
) -> Message:
    """The question before a freeze that is long, or of several repositories.

    `left`: which queues of a group stay as they are, escaped.
    """
    end = f"until {local_time(terms.end)}" if terms.end else "until someone ends it"
    start = f"from {local_time(terms.start)} " if terms.start else ""
    waits = ""
    if queued is not None:
        waits = by_count(
            queued,
            " {count} queued pull request would wait.",
            " {count} queued pull requests would wait.",
        )
    value = block_controls.value_of(pause_actions.PauseChoice(target_value(where), asked))
    return blocks.post(
        f"{FREEZE_MARK} *Freeze {named(where)} {start}{end}?*{waits} "
        "Checks continue, and merging waits.",
        f"Reason: {literal(asked.reason, REASON_LIMIT)}",
        names(where.repositories) if isinstance(where, Group) else "",
        left,
        quote(asked.limits, NAME_LIMIT),
        f"Skip this question: `{escape(command)} freeze now …`",
        buttons=[
            blocks.button(
                "Freeze", action_id=freeze_actions.FREEZE_CONFIRMED, value=value, style="primary"
            ),
            blocks.button("Don't freeze", action_id=block_controls.DISMISS, value="no"),
        ],
    )


def not_offered(where: Target, asked: Asked, command: str) -> Message:
    """Where the service has no freezes: a pause instead, which the button runs."""
    instead = f"pause {_typed(where)} {Asked(asked.reason, asked.lasting).written}".rstrip()
    refused = blocks.post(
        f"{FREEZE_MARK} {named(where)} can't be frozen: "
        "the merge queue service doesn't offer freezes. A pause stops merging too. Running checks "
        "start over after it.",
        code(f"{command} {instead}", REASON_LIMIT),
        buttons=[blocks.button("Pause instead", action_id=block_controls.RETRY, value=instead)],
    )
    return blocks.refusal(refused)


def _typed(where: Target) -> str:
    return where.mention if isinstance(where, Group) else where


def would_wait(queued: int) -> str:
    return f"{queued:,} queued. Checks continue, and merging waits."


def plan_form(targets: Sequence[Target], chosen: Target | None) -> View:
    """Asks also which queue or group; opened where none was named."""
    menu = target_menu(targets, action_id=block_controls.PAUSE_TARGET, chosen=chosen)
    what = blocks.input_field(block_controls.TARGET_BLOCK, "What to freeze", menu)
    return _form([what], NOTHING_ASKED, {"channel": None})


def freeze_form(
    target: Target,
    asked: Asked,
    notes: Sequence[str],
    channel_id: str | None,
    question: pause_ends.EndQuestion | None = None,
) -> View:
    """Asks what to stop first; `asked`: what was typed already.

    `question`: what has to be answered about the end first.

    Stop checks too, or only merging? The other choice shows the other form.
    """
    only = blocks.option("Only merging: checks continue", STOP_MERGING)
    both = blocks.option("Checks too: pause the queue", STOP_CHECKS)
    choice = blocks.radio_buttons(pause_actions.HOLD, [only, both], only)
    label = "Stop checks too, or only merging?"
    what = [
        blocks.section(f"*{named(target)}*"),
        blocks.input_field(pause_actions.HOLD_BLOCK, label, choice, dispatch_action=True),
        *(blocks.context(note) for note in notes),
        *(question.shown if question is not None else []),
    ]
    seen = question.seen if question is not None else ""
    carried = {"target": target_value(target), "channel": channel_id, "seen": seen}
    return _form(what, asked, carried)


def _form(what: Sequence[Block], asked: Asked, carried: Mapping[str, JsonValue]) -> View:
    """`what`: which queue or group, and what is known of it."""
    at = pause_ends.instant(asked.lasting) if asked.start is None else None
    times = Asked(start=asked.start, lasting=asked.lasting).written if at is None else ""
    shown = [
        *what,
        pause_form.reason_input(
            "Shown to everyone who looks at the queue, with your name.",
            asked.reason,
            "Cutting release 4.2",
        ),
        *pause_ends.end_fields(
            times or None, at, label=block_controls.TIMES_LABEL, hint=TIMES_HINT
        ),
        _words_field(freeze_actions.BRANCH_BLOCK, "Only these branches", "main", asked.branches),
        _words_field(
            freeze_actions.EXCEPT_BLOCK,
            "Except",
            f"hotfix @alice #41: {EXCEPTIONS}",
            asked.excepted,
        ),
    ]
    title = "Freeze a merge queue"
    submit = "Freeze"
    return blocks.modal(freeze_actions.FREEZE_VIEW, title, shown, carried, submit=submit)


def _words_field(block_id: str, label: str, example: str, typed: Sequence[str]) -> Block:
    words = blocks.text_input(
        block_id, max_length=LISTED_LIMIT, example=example, typed=" ".join(typed)
    )
    return blocks.input_field(block_id, label, words, optional=True)


def unfreeze_form(
    what: str,
    target: str,
    channel_id: str | None,
    which: str = "",
    choices: Sequence[blocks.Option] = (),
) -> View:
    """Asks why the freeze of `what` (escaped) ends, as the service does.

    `target`: the freeze, the repository or the group that the form is for.
    `which`: the freeze that ends, or several with numbers, escaped; `choices`: one of each.
    """
    shown = [
        blocks.section(f"*{what}*"),
        *([blocks.section(which)] if which else []),
        *([_choice_of_freeze(choices)] if choices else []),
        pause_form.reason_input("Saved with your name.", example="Release 4.2 is out"),
    ]
    carried = {"target": target, "channel": channel_id}
    submit = "End freeze"
    return blocks.modal(freeze_actions.UNFREEZE_VIEW, "End a freeze", shown, carried, submit=submit)


def _choice_of_freeze(choices: Sequence[blocks.Option]) -> Block:
    name = freeze_actions.WHICH_BLOCK
    return blocks.input_field(name, "Which freeze ends?", blocks.radio_buttons(name, choices))


def freeze_under_way(doing: str, target: Target) -> View:
    text = f":hourglass_flowing_sand: {doing} {named(target)} …"
    return modal.result_modal(blocks.sentence(text), None)


def words_of(block_id: str, typed: Sequence[str]) -> list[str]:
    """The words of a field as options of the command; people may type the option's name too."""
    option = f"{block_id}:"
    return [word if word.lower().startswith(option) else f"{option}{word}" for word in typed]

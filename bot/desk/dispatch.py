"""Acknowledges what Slack sends, reads it, and runs its handler or command in the inbox."""

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.acts.errors import PermissionDenied
from bot.acts.permission import Right
from bot.acts.texts.permissions import denied
from bot.blocks import addressed, controls, targets as target_menus
from bot.blocks.addressed import Unread
from bot.blocks.blocks import refusal, sentence
from bot.blocks.controls import Repeat
from bot.blocks.explain import BUSY
from bot.blocks.message import View
from bot.blocks.modal import refusal_modal, result_modal
from bot.blocks.text import one_line
from bot.channels.subscription import SubscriptionOptions
from bot.desk import acting_buttons, choice, targets
from bot.desk.help import help_text
from bot.desk.phrases import DIRECT_OFF
from bot.desk.registry import Accepted, Bot, Call, CallWork, FormMistake, OnClick, OnEvent, handles
from bot.desk.situation import Situation
from bot.desk.understanding import NotUnderstood, Unclear, Understood, only_reads, understand
from bot.home.handlers.tab import HOME_OPENED, publish, renew_soon
from bot.kernel.actor import Actor, Origin
from bot.kernel.errors import CommandSyntaxError, UserError
from bot.kernel.groups import Target
from bot.slack.conversation import Answers
from bot.slack.forms import FormTurn
from bot.slack.payloads import (
    HOME,
    TYPED_TEXT_KEPT,
    Interaction,
    Json,
    SaidToBot,
    SlashCommand,
    request_key,
)
from bot.slack.references import as_written
from bot.slack.web_api.people import asked_once_each

logger = logging.getLogger(__name__)

PERMISSION_SECONDS = 1.5
"""For all that is asked before an acknowledgement, which Slack awaits for three seconds."""

TOO_LATE_SECONDS = 2.9
"""Slack has given up by then, and has told the person so."""

CHECKING = ":hourglass_flowing_sand: Slack is slow to tell me who you are. I'm still checking …"
SHOWING = ":hourglass_flowing_sand: One moment …"
AS_BEFORE = "Nothing was changed. Please send the form again."

TOO_LATE = f":warning: I was too slow to take this form. {AS_BEFORE}"

JOINED = "member_joined_channel"

OURS = re.compile(f"^{re.escape(controls.ACTION_PREFIX)}")


class Dispatch:
    """One Bolt listener for each kind of request."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot

    def register(self, app: AsyncApp) -> None:
        app.command(self._bot.command)(self.on_typed)
        app.action(OURS)(self.on_action)
        app.options(OURS)(self.on_suggestion)
        for callback_id in handles.form:
            app.view(callback_id)(self.on_form)
        for callback_id in handles.shortcut:
            app.shortcut(callback_id)(self.on_action)
        for event_type in handles.event:
            app.event(event_type)(self.on_event)
        app.event("app_mention")(self.on_message)
        app.event("message")(self.on_message)

    async def on_typed(self, ack: AsyncAck, body: Json) -> None:
        if self._bot.background.inbox.is_full:
            await ack(BUSY)
            return
        await ack()
        command = SlashCommand.model_validate(body)
        call = self._call(
            command.actor,
            Origin.COMMAND,
            trigger_id=command.trigger_id,
            channel_id=command.channel_id,
            response_url=command.response_url,
            request=request_key(body),
        )
        call.progress.repeat = controls.repeat_typed(command.typed)
        self._start(body, partial(run, typed=command.typed), call)

    async def on_message(self, ack: AsyncAck, body: Json) -> None:
        """A mention and a direct message are commands; edits and what apps write are not.

        What a mention asks for is answered in its thread, where everybody sees it.
        """
        await ack()
        event = SaidToBot.model_validate(body["event"])
        if not event.is_addressed or not event.is_reworded:
            return
        said = event.latest
        ours = _own_id(body)
        if said.user == ours:
            return
        unread = said.unread_because(ours)
        call = self._call(
            # In a shared channel, the event itself comes under our own workspace's id.
            Actor(said.user, "", said.user_team or body.get("team_id")),
            Origin.COMMAND,
            channel_id=said.channel,
            asked=None if unread is Unread.CANVAS else said,
            answers=Answers.TO_ACTOR if said.is_direct else Answers.TO_CHANNEL,
            request=request_key(body),
        )
        if unread is not None:
            _log_unread(said, unread)
            if unread in addressed.WHY_UNREAD:
                self._start(body, partial(_say_why_unread, unread=unread), call)
            return
        typed = said.typed_to(ours)
        call.progress.repeat = controls.repeat_typed(typed)
        self._start(body, partial(run, typed=typed), call)

    async def on_action(self, ack: AsyncAck, body: Json) -> None:
        """A click, a choice in a menu, or a shortcut."""
        await ack()
        click = Interaction.model_validate(body)
        handler = handles.click.get(click.action_id) or handles.shortcut.get(click.callback_id)
        if handler is None:
            return
        origin = Origin.BUTTON if click.action_id else Origin.SHORTCUT
        call = self._call_of(body, click, Origin.HOME if click.view_type == HOME else origin)
        if click.action_id in acting_buttons.PAUSE_BUTTONS:
            call.progress.repeat = Repeat(click.action_id, click.chosen)
        elif click.action_id in controls.CARRY_COMMAND and call.origin is not Origin.HOME:
            call.progress.repeat = controls.repeat_typed(click.chosen)
        self._start(body, partial(_click, handler=handler, click=click), call)

    async def on_form(self, ack: AsyncAck, body: Json) -> None:
        """Acknowledge in time, whatever Slack's answers about the person take.

        A form that can't be checked so soon shows that, and the result later.
        """
        begun = asyncio.get_running_loop().time()
        form = Interaction.model_validate(body)
        call = self._call_of(body, form, Origin.MODAL)
        checking = asyncio.create_task(self._check_form(call, form), name="check a form")
        try:
            await asyncio.wait({checking}, timeout=PERMISSION_SECONDS)
        except asyncio.CancelledError:
            checking.cancel()
            raise
        if asyncio.get_running_loop().time() - begun > TOO_LATE_SECONDS:
            # Slack has told the person that the form was not sent.
            checking.cancel()
            extra = {"action": "form_too_late", "actor": call.actor.user_id}
            logger.warning("a form arrived too late to acknowledge", extra=extra)
            await self._bot.forms.sent(form.view_id)
            refused = result_modal(refusal(sentence(TOO_LATE)), None)
            await ack(response_action="update", view=dict(refused.view))
            return
        if not checking.done():
            turn = await self._bot.forms.sent(form.view_id)
            await ack(response_action="update", view=dict(_result(CHECKING).view))
            self._start(body, partial(_finish_form, checking=checking, turn=turn), call)
            return
        try:
            accepted = checking.result()
        except FormMistake as wrong:
            await ack(response_action="errors", errors=wrong.errors)
            return
        await self._accept(ack, body, call, form, accepted)

    async def _accept(
        self, ack: AsyncAck, body: Json, call: Call, form: Interaction, accepted: Accepted
    ) -> None:
        turn = await self._bot.forms.sent(form.view_id)
        is_shown = _fits(accepted.shown)
        shown = accepted.shown if is_shown else _result(SHOWING)
        await ack(response_action="update", view=dict(shown.view))
        if accepted.work is not None:
            call.progress.repeat = accepted.repeat
            self._start(body, partial(_carry_out_form, work=accepted.work), call)
        elif not is_shown:
            self._start(body, partial(_show_form_turn, turn=turn, view=accepted.shown), call)

    async def _check_form(self, call: Call, form: Interaction) -> Accepted:
        """Raises WrongField."""
        try:
            await self._bot.use.check_permission.turn_away(call.actor)
        except PermissionDenied as refused:
            return Accepted(refusal_modal(denied(refused)))
        if form.has_references:
            form = form.with_texts(await _named_texts(call, form))
        return await handles.form[form.callback_id](call, form)

    async def on_suggestion(self, ack: AsyncAck, body: Json) -> None:
        """Options for a menu while somebody types, if they may read; none if Slack is slow."""
        asked = Interaction.model_validate(body)
        found: Sequence[Target] = ()
        with suppress(TimeoutError):
            async with asyncio.timeout(PERMISSION_SECONDS):
                if await self._bot.use.check_permission.may(asked.actor, Right.READ):
                    is_any = asked.action_id == controls.PAUSE_TARGET
                    found = self._bot.targets if is_any else self._bot.repositories.names
        await ack(
            options=[
                dict(suggestion) for suggestion in target_menus.suggestions(found, asked.typed)
            ]
        )

    async def on_event(self, ack: AsyncAck, body: Json) -> None:
        await ack()
        event = body["event"]
        # Events of channels have no user. An event doesn't name the person's team: Slack does.
        user_id = str(event.get("user") or "")
        channel_id = None
        if event["type"] == JOINED:
            if user_id != _own_id(body):
                return
            user_id = str(event.get("inviter") or "")
            channel_id = str(event["channel"])
        origin = Origin.HOME if event["type"] == HOME_OPENED else Origin.COMMAND
        actor = Actor(user_id, "", body.get("team_id"))
        call = self._call(actor, origin, channel_id=channel_id)
        self._start(
            body, partial(_run_event, handler=handles.event[event["type"]], event=event), call
        )

    def _call_of(self, body: Json, did: Interaction, origin: Origin) -> Call:
        """A modal answers to the channel in which it was opened."""
        modal_id = did.view_id if did.view_type != HOME else ""
        return self._call(
            did.actor,
            origin,
            trigger_id=did.trigger_id,
            channel_id=did.carried.channel if modal_id else did.channel_id,
            response_url=did.response_url,
            view_id=modal_id or None,
            in_channel_message=did.container_type == "message" and not did.is_ephemeral,
            request=request_key(body),
            pressed_ts=did.asked_at,
            pressed_in=did.thread_ts,
        )

    def _call(self, actor: Actor, origin: Origin, **where: Any) -> Call:  # noqa: ANN401 - checked by Call
        """`where` says where answers go."""
        return Call(self._bot.background.replies, actor, origin, bot=self._bot, **where)

    def _start(self, body: Json, work: CallWork, call: Call) -> None:
        background = self._bot.background
        checked = partial(_do, work, call)
        background.inbox.hand_over(background.carry_out(body, checked, call))


async def _do(work: CallWork, call: Call) -> None:
    """Do it for a person who may read, before anything of theirs is parsed, stored or worded.

    What explains a mistake may name other repositories: only for people who certainly may read.
    Payloads name people by their legacy usernames, which Slack shows nowhere.
    """
    with asked_once_each():
        async with _still_working(call):
            await _do_as(work, call)


@asynccontextmanager
async def _still_working(call: Call) -> AsyncIterator[None]:
    """Say so once to a person who has seen nothing after a few seconds."""

    async def say_later() -> None:
        await call.bot.clock.sleep(call.bot.progress_seconds)
        await call.say_still_working()

    waiting = asyncio.create_task(say_later(), name="still working")
    try:
        yield
    finally:
        waiting.cancel()
        await asyncio.wait([waiting])
        if not waiting.cancelled() and waiting.exception() is not None:
            logger.warning("progress not shown", exc_info=waiting.exception())
        await call.end_progress()


async def _do_as(work: CallWork, call: Call) -> None:
    if call.actor.user_id:
        name = await call.bot.use.check_permission.name(call.actor.user_id)
        call = replace(call, actor=replace(call.actor, name=name))
    if call.origin is Origin.HOME and await call.bot.use.check_permission.is_refused(call.actor):
        # Publishing the tab says why.
        await publish(call)
        return
    try:
        if call.actor.user_id:
            await call.bot.use.check_permission.turn_away(call.actor)
        await work(call)
    except PermissionDenied:
        raise
    except UserError:
        await call.admit()
        raise


async def _carry_out_form(call: Call, work: CallWork) -> None:
    """Carry out a form, which the Home tab shows soon."""
    await work(call)
    renew_soon(call)


async def _finish_form(call: Call, *, checking: asyncio.Task[Accepted], turn: FormTurn) -> None:
    """Carry out a form that was acknowledged before it was checked."""
    try:
        accepted = await checking
    except FormMistake as wrong:
        said = f"{' '.join(wrong.errors.values())} {AS_BEFORE}"
        await call.replace_message(refusal(sentence(f":warning: {said}")))
        return
    finally:
        checking.cancel()
    if accepted.work is None:
        await call.show_in_modal(turn, accepted.shown)
    else:
        call.progress.repeat = accepted.repeat
        await _carry_out_form(call, accepted.work)


async def _show_form_turn(call: Call, *, turn: FormTurn, view: View) -> None:
    """Show what an acknowledgement couldn't carry."""
    await call.show_in_modal(turn, view)


def _fits(view: View) -> bool:
    """Whether an acknowledgement can carry it."""
    return len(json.dumps(dict(view.view))) <= target_menus.LARGEST_ANSWER


def _result(text: str) -> View:
    return result_modal(sentence(text), None)


def _own_id(body: Json) -> str:
    """The bot's own user id (https://docs.slack.dev/apis/events-api/#authorizations)."""
    return str(next(iter(body.get("authorizations") or [{}])).get("user_id"))


async def _run_event(call: Call, *, handler: OnEvent, event: Json) -> None:
    await handler(call, event)


async def _click(call: Call, *, handler: OnClick, click: Interaction) -> None:
    """A click on the Home tab also draws it again."""
    typed = choice.asked_by(click.action_id, click.block_id)
    if typed is not None and click.age > choice.QUESTION_LASTS:
        await call.replace_message(choice.expired(typed, call.bot.command))
        return
    await handler(call, click)
    if call.origin is Origin.HOME:
        await publish(call)


async def _say_why_unread(call: Call, *, unread: Unread) -> None:
    await call.admit()
    await call.reply(addressed.not_read(unread, call.bot.command))


def _log_unread(said: SaidToBot, unread: Unread) -> None:
    fields = {"why": unread.value, "subtype": said.subtype, "channel": said.channel, "ts": said.ts}
    extra = {"action": "message_not_read", "actor": said.user, **fields}
    logger.info("a message to the bot could not be read", extra=extra)


async def _named_texts(call: Call, form: Interaction) -> dict[str, str]:
    """The texts of a form in which people are mentioned, with their names."""
    texts = list(form.texts)
    return dict(zip(texts, await asyncio.gather(*map(call.bot.names.in_text, texts)), strict=True))


async def run(call: Call, typed: str, *, is_settled: bool = False) -> None:
    """Run a command. Raises what parsing and the use cases raise.

    The right to read is checked here; the use case checks and records any other right.

    `is_settled`: the person was asked which queue they mean.
    """
    mentions = [f"@{name}" for name in call.bot.groups.names]
    typed = one_line(await call.bot.names.in_command(typed, mentions), TYPED_TEXT_KEPT)
    situation = await targets.situation_of(call, typed, is_settled=is_settled)
    match understand(typed, situation):
        case NotUnderstood() as unread:
            await _answer_not_understood(call, unread)
        case Unclear() as unclear:
            await targets.ask_which(call, unclear)
        case Understood() as understood:
            await _carry_out(call, understood, situation)


async def _answer_not_understood(call: Call, unread: NotUnderstood) -> None:
    """Raise what is wrong; where nothing can be offered, show what the bot can do."""
    error = unread.error
    if not isinstance(error, CommandSyntaxError) or error.instead or error.verb:
        raise error
    fields = {"action": "not_understood", "actor": call.actor.user_id, "channel": call.channel_id}
    logger.info("a command was not understood", extra=fields)
    await call.reply(help_text(call.bot.command, problem=error.problem))


async def _carry_out(call: Call, understood: Understood, situation: Situation) -> None:
    command = understood.command
    request = understood.request
    is_reading = command.right is Right.READ
    if command.name == "help":
        await call.bot.use.check_permission.turn_away(call.actor)
    elif is_reading:
        await call.admit()
    is_stop = situation.is_direct and understood.typed == DIRECT_OFF
    if is_stop and await _stop_messages(call, understood.typed, situation):
        return
    where = understood.where
    if request.needs_repository:
        where = await targets.target_meant(call, understood)
        if where is None:
            return
    options = as_written(dict(request.options))
    async with nullcontext() if is_reading else call.answering(command.name):
        with targets.naming(request.action, where, request.options.get("pull_request")):
            await handles.command[request.action](call, where, **options)


async def _stop_messages(call: Call, typed: str, situation: Situation) -> bool:
    """Stop direct messages: also end what they are subscribed to.

    In the thread of one, it may be about that kind alone: True if the person is asked.
    """
    if call.channel_id is None:
        return False
    if situation.thread is not None:
        await targets.ask_what_to_stop(call, situation.thread, typed)
        return True
    if await call.bot.use.channel_settings.subscriptions(call.channel_id):
        everywhere = call.bot.groups.everything
        await handles.command["unsubscribe"](call, everywhere, options=SubscriptionOptions())
    return False


@handles.click(*controls.MEANT, controls.CHOOSE)
async def choose_target(call: Call, click: Interaction) -> None:
    """The question goes once it is answered; after a failure another answer may do."""
    asked = choice.asked_by(click.action_id, click.block_id) or ""
    typed = click.chosen
    question = None
    if click.block_id.startswith(choice.BLOCK_PREFIX):
        question = await call.question(asked)
        if click.action_id == controls.CHOOSE:
            whole = question.typed if question is not None else asked
            typed = choice.continued(whole, click.chosen)
        situation = Situation(call.bot.groups, call.bot.called)
        if question is None and not only_reads(typed, situation):
            await call.replace_message(choice.answered_elsewhere(asked))
            return
    call.progress.repeat = controls.repeat_typed(typed)
    answering: AbstractAsyncContextManager[bool] = nullcontext(enter_result=True)
    if question is not None:
        answering = call.closing(question)
    async with answering as is_open:
        if not is_open:
            await call.replace_message(choice.answered_elsewhere(asked))
            return
        await run(call, typed, is_settled=True)
    await call.remove_message()


@handles.click(*controls.TYPED, *controls.IN_PLACE, controls.SHARE)
async def run_carried(call: Call, click: Interaction) -> None:
    answers = Answers.TO_ACTOR
    if click.action_id in controls.IN_PLACE:
        answers = Answers.IN_PLACE
    elif click.action_id == controls.SHARE:
        answers = Answers.TO_CHANNEL
    # After any click on the Home tab, all of it is drawn again.
    if answers is not Answers.IN_PLACE or call.origin is not Origin.HOME:
        await run(replace(call, answers=answers), click.chosen)

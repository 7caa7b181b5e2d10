"""What machines do and ask through the running bot, such as `mqbot pause` and `mqbot status`."""

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import NoReturn
from urllib.parse import quote

import click
import httpx
from pydantic import JsonValue

from bot.cli.process import UNAVAILABLE_EXIT, complaining, say
from bot.kernel.errors import ConfigurationError
from bot.kernel.proxies import is_open_http, open_http_problem, proxy_towards
from bot.kernel.storable import storable
from bot.kernel.transport import NO_CONNECTION, why_lost

URL = "MQBOT_URL"
ALLOW_HTTP = "MQBOT_ALLOW_HTTP"
TOKEN = "MQBOT_TOKEN"  # noqa: S105 - the variable's name
WHERE_FROM = "It takes: this machine's token in MQBOT_MACHINE_TOKENS"

RUNNING_BOT_TIMEOUT = httpx.Timeout(10.0, read=300.0)
"""A group of many repositories takes a while."""


UNCERTAIN_EXIT = 3
"""Nobody can tell yet whether it was carried out; the bot keeps checking."""

NO_ADDRESS = "not an address like https://mqbot.example.com or http://127.0.0.1:8080"
HIGHEST_PORT = 65535

NOT_EVEN_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.InvalidURL,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)
"""Failures before the request was on its way; after any other the bot may carry it out."""

READING = frozenset({"status", "why", "log"})
"""What changes nothing, so that a lost answer leaves nobody in doubt."""

OUTCOME = "outcome"
OUTCOMES = f"/api/v1/{OUTCOME}/"
ASKED_MOST = 12
"""How often to ask for an outcome; the bot waits ten seconds for it each time."""

ASK_AGAIN = frozenset(
    {
        httpx.codes.TOO_MANY_REQUESTS,
        httpx.codes.INTERNAL_SERVER_ERROR,
        httpx.codes.BAD_GATEWAY,
        httpx.codes.SERVICE_UNAVAILABLE,
        httpx.codes.GATEWAY_TIMEOUT,
    }
)
"""The bot is busy or restarting, or a proxy can't reach it: none of these is an outcome."""

SECONDS_UNTIL_NEXT = 5.0
"""Until the next question after an outcome, if the bot didn't answer the last one."""


as_json = click.option(
    "--json", "is_json", is_flag=True, help="Print the whole answer as JSON, refusals included."
)
reason_why = click.option("--reason", required=True, help="Why, in 1 to 255 characters.")


@click.command()
@click.argument("target")
@reason_why
@click.option("--end", default="", help="When to resume automatically: 45m, or until 15:00 (UTC).")
@as_json
def pause(target: str, reason: str, end: str, *, is_json: bool) -> None:
    """Pause TARGET: owner/name, owner/*, @group or all.

    Needs MQBOT_URL and MQBOT_TOKEN. Can be repeated safely. Exit code 0: paused for that reason. 1:
    refused, or failed. 2: wrong usage. 3: unknown, because the connection to the bot was lost, or
    the service didn't answer within two minutes; the bot keeps checking.
    """
    ask("pause", {"target": target, "reason": reason, "end": end}, is_json=is_json)


@click.command()
@click.argument("target")
@click.option("--any", "is_any", is_flag=True, help="Also end somebody else's pause.")
@as_json
def resume(target: str, *, is_any: bool, is_json: bool) -> None:
    """Resume TARGET: owner/name, owner/*, @group or all.

    Ends only your own pause; of a group, only those you made through the group. Needs MQBOT_URL
    and MQBOT_TOKEN. Exit code 0: running. 1: refused, or failed. 2: wrong usage. 3: unknown,
    because the connection to the bot was lost, or the service didn't answer within two minutes.
    """
    ask("resume", {"target": target, "any": is_any}, is_json=is_json)


@click.command()
@click.argument("target")
@reason_why
@click.option("--end", default="", help="When to end automatically: 45m, or until 15:00 (UTC).")
@click.option(
    "--except",
    "exceptions",
    multiple=True,
    help="What may still merge: a label, @author or #pull-request. Can be repeated.",
)
@click.option(
    "--branch", "branches", multiple=True, help="Freeze only this base branch. Can be repeated."
)
@as_json
def freeze(
    target: str,
    reason: str,
    end: str,
    exceptions: tuple[str, ...],
    branches: tuple[str, ...],
    *,
    is_json: bool,
) -> None:
    """Freeze TARGET (owner/name, owner/*, @group or all): checks run, nothing merges.

    Needs MQBOT_URL and MQBOT_TOKEN. Can be repeated safely. Exit codes: see `mqbot pause -h`.
    """
    asked: dict[str, JsonValue] = {"target": target, "reason": reason, "end": end}
    asked |= {"exceptions": [*exceptions], "branches": [*branches]}
    ask("freeze", asked, is_json=is_json)


@click.command()
@click.argument("target")
@reason_why
@click.option("--id", "freeze_id", default="", help="The freeze to end, if there are several.")
@click.option("--any", "is_any", is_flag=True, help="Also end somebody else's freeze.")
@as_json
def unfreeze(target: str, reason: str, freeze_id: str, *, is_any: bool, is_json: bool) -> None:
    """End the freeze of TARGET: owner/name, owner/*, @group or all.

    Ends only your own freeze; of a group, only those you made through the group. Needs MQBOT_URL
    and MQBOT_TOKEN. Exit codes: see `mqbot resume -h`.
    """
    asked: dict[str, JsonValue] = {"target": target, "reason": reason, "any": is_any}
    ask("unfreeze", asked | {"freeze": freeze_id}, is_json=is_json)


@click.command()
@click.argument("repository")
@click.argument("pull_request", type=int)
@reason_why
@as_json
def allow(repository: str, pull_request: int, reason: str, *, is_json: bool) -> None:
    """Let PULL_REQUEST of REPOSITORY (owner/name) through the freezes in force.

    Needs MQBOT_URL and MQBOT_TOKEN. Exit codes: see `mqbot pause -h`.
    """
    asked: dict[str, JsonValue] = {"target": repository, "pull_request": pull_request}
    ask("allow", asked | {"reason": reason}, is_json=is_json)


@click.command()
@click.argument("target")
@as_json
def status(target: str, *, is_json: bool) -> None:
    """Print the queue of TARGET: owner/name, owner/*, @group or all.

    Needs MQBOT_URL and MQBOT_TOKEN. Exit code 0: printed. 1: refused, or failed. 2: wrong usage.
    """
    ask("status", {"target": target}, is_json=is_json)


@click.command()
@click.argument("repository")
@click.argument("pull_request", type=int, required=False)
@as_json
def why(repository: str, pull_request: int | None, *, is_json: bool) -> None:
    """Print why nothing merges in REPOSITORY (owner/name), or what happened to PULL_REQUEST.

    Needs MQBOT_URL and MQBOT_TOKEN. Exit code 0: printed. 1: refused, or failed. 2: wrong usage.
    """
    ask("why", {"target": repository, "pull_request": pull_request}, is_json=is_json)


@click.command()
@click.argument("repository")
@click.option("--since", default="1d", help="How far back: 2h or 7d, at most 30 days.")
@click.option("--pr", "pull_request", type=int, help="Only events of this pull request.")
@click.option("--branch", help="Only events of this base branch.")
@click.option("--events", default=20, help="How many at most, up to 100.")
@as_json
def log(
    repository: str,
    since: str,
    pull_request: int | None,
    branch: str | None,
    events: int,
    *,
    is_json: bool,
) -> None:
    """Print the event log of REPOSITORY (owner/name), newest first.

    Needs MQBOT_URL and MQBOT_TOKEN. Exit code 0: printed. 1: refused, or failed. 2: wrong usage.
    """
    asked: dict[str, JsonValue] = {"target": repository, "since": since, "events": events}
    asked |= {"pull_request": pull_request, "branch": branch}
    ask("log", asked, is_json=is_json)


@click.command()
@click.argument("request")
@as_json
def outcome(request: str, *, is_json: bool) -> None:
    """Wait up to two minutes for the result of REQUEST, which was answered with 202.

    Needs MQBOT_URL and MQBOT_TOKEN. Exit code 0: it was carried out. 1: it wasn't, or was refused.
    2: wrong usage. 3: nobody knows yet, or nobody has approved it yet.
    """
    _print_outcome(f"{OUTCOMES}{quote(storable(request), safe='')}", is_json=is_json)


def ask(what: str, asked: Mapping[str, JsonValue], *, is_json: bool = False) -> None:
    """Print the bot's answer.

    Exits with CONFIGURATION_EXIT if a variable is missing or unusable, and with UNAVAILABLE_EXIT
    and a sentence on standard error if the bot refused, failed or didn't answer. With
    UNCERTAIN_EXIT if nobody can tell whether it was carried out. With `is_json` it prints every
    answer of the bot's as it came, on standard output, with the same exit codes.
    """
    with talking(what) as client:
        # What was typed may be no text.
        answer = client.post(f"/api/v1/{what}", json=storable(dict(asked)))
    said = _sentence_of_answer(answer)
    if said is not None and answer.status_code == httpx.codes.ACCEPTED:
        address = str(answer.json().get("outcome"))
        say(f"mqbot: {said} Its outcome: {address}", is_complaint=True)
        if address.startswith(OUTCOMES):
            _print_outcome(address, is_json=is_json)
            return
    _print(what, answer, is_json=is_json)


def _print_outcome(address: str, *, is_json: bool) -> None:
    with talking(OUTCOME) as client:
        answer = follow_outcome(client, address)
    _print(OUTCOME, answer, is_json=is_json)


@contextmanager
def talking(what: str) -> Iterator[httpx.Client]:
    """A connection to the bot; exits with a sentence if the bot doesn't answer."""
    with complaining():
        url = _required(URL, "It takes: the address of the running bot")
        token = _required(TOKEN, WHERE_FROM)
        if not (token.isascii() and token.isprintable()) or " " in token:
            raise ConfigurationError({TOKEN: "has a character that no token has; copy it again"})
        if not _is_address(url):
            raise ConfigurationError({URL: NO_ADDRESS})
        proxy = proxy_towards(url)
        if is_open_http(url) and os.environ.get(ALLOW_HTTP, "").strip().lower() != "true":
            raise ConfigurationError({URL: open_http_problem(ALLOW_HTTP)})
    try:
        # Redirects are not followed: the token would go with them.
        with httpx.Client(
            base_url=url.rstrip("/"),
            headers={"Authorization": f"Bearer {token}"},
            timeout=RUNNING_BOT_TIMEOUT,
            proxy=proxy,
            trust_env=False,
            verify=httpx.create_ssl_context(),
        ) as client:
            yield client
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        is_late = isinstance(error, httpx.TimeoutException)
        why = why_lost(error) or ("no answer in time" if is_late else NO_CONNECTION)
        advice = "" if what in READING else " Check `mqbot status` before a retry."
        _fail(
            f"{URL}: the bot didn't answer ({why}).{advice}",
            UNCERTAIN_EXIT if _may_be_done(what, error) else UNAVAILABLE_EXIT,
        )


def _is_address(url: str) -> bool:
    try:
        address = httpx.URL(url)
        address.host.encode("idna")
    except (httpx.InvalidURL, UnicodeError):
        return False
    is_host = bool(address.host) and " " not in url
    is_plain = not (address.query or address.fragment)
    is_port = address.port is None or 0 < address.port <= HIGHEST_PORT
    return address.scheme in {"http", "https"} and is_host and is_plain and is_port


def _may_be_done(what: str, error: Exception) -> bool:
    """Whether the bot may carry out what was asked for, although its answer was lost."""
    if what in READING:
        return False
    return what == OUTCOME or not isinstance(error, NOT_EVEN_SENT)


def _print(what: str, answer: httpx.Response, *, is_json: bool) -> None:
    """The answer, on standard error if it is a refusal; exits with its code."""
    sentence = _sentence_of_answer(answer)
    code = exit_code(what, answer)
    if is_json and sentence is not None:
        say(json.dumps(answer.json()))
        raise SystemExit(code)
    if sentence is not None and answer.status_code == httpx.codes.ACCEPTED:
        proposal = answer.json().get("proposal")
        if proposal is not None:
            asking = f"Ask again with `mqbot outcome {proposal['id']}`."
            _fail(f"Nobody has answered the proposal yet. {asking}", UNCERTAIN_EXIT)
        _fail("Still unknown. Check `mqbot status`.", UNCERTAIN_EXIT)
    if sentence is None:
        _fail(f"{URL}: the answer is not the bot's (status {answer.status_code})", code)
    if answer.status_code == httpx.codes.UNAUTHORIZED:
        _fail(f"{TOKEN}: the bot doesn't know it. {WHERE_FROM}", code)
    if code:
        _fail(sentence, code)
    say(sentence)


def exit_code(what: str, answer: httpx.Response) -> int:
    """0 if it is as asked for, UNCERTAIN_EXIT if the answer doesn't tell."""
    if answer.status_code == httpx.codes.ACCEPTED:
        return UNCERTAIN_EXIT
    if what == OUTCOME and answer.status_code in ASK_AGAIN:
        return UNCERTAIN_EXIT
    if _sentence_of_answer(answer) is None:
        # A proxy that got no answer in time, or finds no bot while that restarts, can't know.
        is_lost = what == OUTCOME or (answer.is_server_error and what not in READING)
        return UNCERTAIN_EXIT if is_lost else UNAVAILABLE_EXIT
    is_as_asked = answer.json().get("done") is not False
    return 0 if answer.status_code == httpx.codes.OK and is_as_asked else UNAVAILABLE_EXIT


def follow_outcome(
    client: httpx.Client, address: str, seconds: float = SECONDS_UNTIL_NEXT
) -> httpx.Response:
    """What became of a request that nobody could tell at first; the last answer if that stays so.

    The bot may be restarting meanwhile, and a proxy answer for it, so it is asked again after so
    many seconds. Raises TransportError if it doesn't answer the last time either.
    """
    for _ in range(ASKED_MOST - 1):
        with suppress(httpx.TransportError):
            answer = client.get(address)
            if answer.status_code == httpx.codes.ACCEPTED:
                continue
            if answer.status_code not in ASK_AGAIN and _sentence_of_answer(answer) is not None:
                return answer
        time.sleep(seconds)
    return client.get(address)


def _required(name: str, takes: str) -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        raise ConfigurationError({name: f"is missing. {takes}"})
    return value


def _sentence_of_answer(answer: httpx.Response) -> str | None:
    """None for an answer that is somebody else's, such as a proxy's."""
    try:
        return str(answer.json()["message"])
    except (ValueError, LookupError, TypeError):
        return None


def _fail(sentence: str, code: int = UNAVAILABLE_EXIT) -> NoReturn:
    say(f"mqbot: {sentence}", is_complaint=True)
    raise SystemExit(code)

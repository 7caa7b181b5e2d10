"""What machines do and ask through the running bot, such as `mqbot pause` and `mqbot status`."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NoReturn
from urllib.parse import quote

import click
import httpx
from pydantic import JsonValue

from bot.cli.process import UNAVAILABLE_EXIT, complaining, say
from bot.kernel.errors import ConfigurationError
from bot.kernel.proxies import is_open_http, open_http_problem, proxy_towards
from bot.kernel.transport import NO_CONNECTION, why_lost

URL = "MQBOT_URL"
ALLOW_HTTP = "MQBOT_ALLOW_HTTP"
TOKEN = "MQBOT_TOKEN"  # noqa: S105 - the variable's name

RUNNING_BOT_TIMEOUT = httpx.Timeout(10.0, read=300.0)
"""A group of many repositories takes a while."""


UNCERTAIN_EXIT = 3
"""Nobody can tell yet whether it was carried out; the bot keeps checking."""

NOT_EVEN_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.InvalidURL,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)
"""Failures before the request was on its way; after any other the bot may carry it out."""

READING = frozenset({"status", "why", "log", "outcome"})
"""What changes nothing, so that a lost answer leaves nobody in doubt."""

OUTCOME = "/api/v1/outcome/"
ASKED_MOST = 12
"""How often to ask for an outcome; the bot waits ten seconds for it each time."""


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
    """Pause TARGET: owner/name, @group or all.

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
    """Resume TARGET: owner/name, @group or all.

    Ends only your own pause; of a group, what was paused through the group. Needs MQBOT_URL and
    MQBOT_TOKEN. Exit code 0: running. 1: refused, or failed. 2: wrong usage. 3: unknown, because
    the connection to the bot was lost, or the service didn't answer within two minutes.
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
    """Freeze TARGET (owner/name, @group or all): checks run, nothing merges.

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
    """End the freeze of TARGET: owner/name, @group or all.

    Ends only your own freeze; of a group, those made through the group. Needs MQBOT_URL
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
    """Print the queue of TARGET: owner/name, @group or all.

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
    with talking("outcome") as client:
        answer = _outcome(client, f"{OUTCOME}{quote(request, safe='')}")
    _print(answer, is_json=is_json)


def ask(what: str, asked: Mapping[str, JsonValue], *, is_json: bool = False) -> None:
    """Print the bot's answer.

    Exits with CONFIGURATION_EXIT if a variable is missing or unusable, and with UNAVAILABLE_EXIT
    and a sentence on standard error if the bot refused, failed or didn't answer. With
    UNCERTAIN_EXIT if nobody can tell whether it was carried out. With `is_json` it prints every
    answer of the bot's as it came, on standard output, with the same exit codes.
    """
    with talking(what) as client:
        answer = client.post(f"/api/v1/{what}", json=asked)
        if answer.status_code == httpx.codes.ACCEPTED:
            said = _sentence(answer)
            address = str(answer.json().get("outcome"))
            say(f"mqbot: {said} Its outcome: {address}", is_complaint=True)
            if address.startswith(OUTCOME):
                answer = _outcome(client, address)
    _print(answer, is_json=is_json)


@contextmanager
def talking(what: str) -> Iterator[httpx.Client]:
    """A connection to the bot; exits with a sentence if the bot doesn't answer."""
    with complaining():
        url = _required(URL, "the address of the running bot")
        token = _required(TOKEN, "a token")
        proxy = proxy_towards(url)
        if not url.lower().startswith(("http://", "https://")):
            raise ConfigurationError({URL: "not an address that begins with https:// or http://"})
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
        was_sent = what not in READING and not isinstance(error, NOT_EVEN_SENT)
        _fail(
            f"{URL}: the bot didn't answer ({why}). Check `mqbot status` before a retry.",
            UNCERTAIN_EXIT if was_sent else UNAVAILABLE_EXIT,
        )


def _print(answer: httpx.Response, *, is_json: bool) -> None:
    """The answer, on standard error if it is a refusal; exits with its code."""
    sentence = _sentence(answer)
    if is_json and sentence is not None:
        say(json.dumps(answer.json()))
        raise SystemExit(_exit_code(answer))
    if answer.status_code == httpx.codes.ACCEPTED:
        proposal = answer.json().get("proposal")
        if proposal is not None:
            asking = f"Ask again with `mqbot outcome {proposal['id']}`."
            _fail(f"Nobody has answered the proposal yet. {asking}", UNCERTAIN_EXIT)
        _fail("Still unknown. Check `mqbot status`.", UNCERTAIN_EXIT)
    if sentence is None:
        _fail(f"the answer is not the bot's (status {answer.status_code})")
    if _exit_code(answer):
        _fail(sentence)
    say(sentence)


def _exit_code(answer: httpx.Response) -> int:
    if answer.status_code == httpx.codes.ACCEPTED:
        return UNCERTAIN_EXIT
    is_as_asked = answer.json().get("done") is not False
    return 0 if answer.status_code == httpx.codes.OK and is_as_asked else UNAVAILABLE_EXIT


def _outcome(client: httpx.Client, address: str) -> httpx.Response:
    """What became of a request that nobody could tell at first; the last answer if that stays so.

    Raises TransportError if the bot never answers.
    """
    answer: httpx.Response | None = None
    for _ in range(ASKED_MOST):
        try:
            answer = client.get(address)
        except httpx.TransportError:
            # The bot may be restarting; the outcome is not known without it.
            continue
        if answer.status_code != httpx.codes.ACCEPTED:
            return answer
    return answer if answer is not None else client.get(address)


def _required(name: str, what: str) -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        raise ConfigurationError({name: f"is missing. It takes: {what}"})
    return value


def _sentence(answer: httpx.Response) -> str | None:
    """None for an answer that is somebody else's, a proxy's say."""
    try:
        return str(answer.json()["message"])
    except (ValueError, LookupError, TypeError):
        return None


def _fail(sentence: str, code: int = UNAVAILABLE_EXIT) -> NoReturn:
    say(f"mqbot: {sentence}", is_complaint=True)
    raise SystemExit(code)

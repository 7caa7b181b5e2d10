"""`mqbot pause`, `resume`, `status` and `why`, through the running bot."""

import os
from typing import NoReturn

import click
import httpx

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

OUTCOME = "/api/v1/outcome/"
ASKED_MOST = 12
"""How often to ask for an outcome; the bot waits ten seconds for it each time."""


@click.command()
@click.argument("target")
@click.option("--reason", required=True, help="Why, in 1 to 255 characters.")
@click.option("--end", default="", help="When it resumes by itself: 45m, or until 15:00 (UTC).")
def pause(target: str, reason: str, end: str) -> None:
    """Pause TARGET: owner/name, @group or all.

    Needs MQBOT_URL and MQBOT_TOKEN. Repeating it changes nothing. Exit code 0: it is paused for
    that reason. 1: refused, or failed: it is not paused by you. 2: used wrongly. 3: the
    connection to the bot was lost, or the service hasn't said within two minutes whether it is
    paused; the bot keeps checking.
    """
    ask("pause", target=target, reason=reason, end=end)


@click.command()
@click.argument("target")
@click.option("--any", "is_any", is_flag=True, help="Resume a pause that somebody else made too.")
def resume(target: str, *, is_any: bool) -> None:
    """Resume TARGET: owner/name, @group or all.

    Ends only this caller's own pause; of a group, what was paused through the group. Needs
    MQBOT_URL and MQBOT_TOKEN. Exit code 0: it is running. 1: refused, or failed. 2: used wrongly.
    3: the connection to the bot was lost, or the service hasn't said within two minutes whether it
    has resumed.
    """
    ask("resume", target=target, any=is_any)


@click.command()
@click.argument("target")
def status(target: str) -> None:
    """Print the queue of TARGET: owner/name, @group or all.

    Needs MQBOT_URL and MQBOT_TOKEN. Exit code 0: printed. 1: refused, or failed. 2: used wrongly.
    """
    ask("status", target=target)


@click.command()
@click.argument("repository")
def why(repository: str) -> None:
    """Print why nothing merges in REPOSITORY (owner/name), and who can act.

    Needs MQBOT_URL and MQBOT_TOKEN. Exit code 0: printed. 1: refused, or failed. 2: used wrongly.
    """
    ask("why", target=repository)


def ask(what: str, **asked: str | bool) -> None:
    """Print the bot's answer.

    Exits with CONFIGURATION_EXIT if a variable is missing or unusable, and with UNAVAILABLE_EXIT
    and a sentence on standard error if the bot refused, failed or didn't answer. With
    UNCERTAIN_EXIT if nobody can tell whether it was carried out.
    """
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
            answer = client.post(f"/api/v1/{what}", json=asked)
            if answer.status_code == httpx.codes.ACCEPTED:
                say(f"mqbot: {_sentence(answer)}", is_complaint=True)
                answer = _outcome(client, answer)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        is_late = isinstance(error, httpx.TimeoutException)
        why = why_lost(error) or ("no answer in time" if is_late else NO_CONNECTION)
        was_sent = what != "status" and not isinstance(error, NOT_EVEN_SENT)
        _fail(
            f"{URL}: the bot gave no answer ({why}). Check `mqbot status` before a retry.",
            UNCERTAIN_EXIT if was_sent else UNAVAILABLE_EXIT,
        )
    sentence = _sentence(answer)
    if answer.status_code == httpx.codes.ACCEPTED:
        _fail("Still not known. Check `mqbot status`.", UNCERTAIN_EXIT)
    if answer.status_code != httpx.codes.OK or sentence is None:
        _fail(sentence or f"the answer is not the bot's (status {answer.status_code})")
    if answer.json().get("done") is False:
        _fail(sentence)
    say(sentence)


def _outcome(client: httpx.Client, answer: httpx.Response) -> httpx.Response:
    """What became of a request that nobody could tell at first; the last answer if that stays so.

    Asks at the address in the answer, if it is one of the bot's.
    """
    address = str(answer.json().get("outcome"))
    for _ in range(ASKED_MOST if address.startswith(OUTCOME) else 0):
        try:
            asked = client.get(address)
        except httpx.TransportError:
            # The bot may be restarting; the outcome is not known without it.
            continue
        if asked.status_code != httpx.codes.ACCEPTED:
            return asked
    return answer


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

"""`mqbot pause`, `resume` and `status`, through the running bot."""

import os
from typing import NoReturn

import click
import httpx

from bot.cli.process import UNAVAILABLE_EXIT, complaining
from bot.domain.errors import ConfigurationError
from bot.proxies import proxy_towards

URL = "MQBOT_URL"
TOKEN = "MQBOT_TOKEN"  # noqa: S105 - the variable's name

PATIENCE = httpx.Timeout(10.0, read=300.0)
"""A group of many repositories takes a while."""


@click.command()
@click.argument("target")
@click.option("--reason", required=True, help="Why, in 1 to 255 characters.")
@click.option("--end", default="", help="When it resumes by itself: 45m, or until 15:00 (UTC).")
def pause(target: str, reason: str, end: str) -> None:
    """Pause TARGET: owner/name, @group or all.

    Needs MQBOT_URL and MQBOT_TOKEN. Repeating it changes nothing. Exit code 0: it is paused for
    that reason. 1: refused, or failed. 2: used wrongly.
    """
    ask("pause", target=target, reason=reason, end=end)


@click.command()
@click.argument("target")
@click.option("--any", "is_any", is_flag=True, help="Resume a pause that somebody else made too.")
def resume(target: str, *, is_any: bool) -> None:
    """Resume TARGET: owner/name, @group or all.

    Ends only this caller's own pause; of a group, what was paused through the group. Needs
    MQBOT_URL and MQBOT_TOKEN. Exit code 0: it is running. 1: refused, or failed. 2: used wrongly.
    """
    ask("resume", target=target, any=is_any)


@click.command()
@click.argument("target")
def status(target: str) -> None:
    """Print the queue of TARGET: owner/name, @group or all.

    Needs MQBOT_URL and MQBOT_TOKEN. Exit code 0: printed. 1: refused, or failed. 2: used wrongly.
    """
    ask("status", target=target)


def ask(what: str, **asked: str | bool) -> None:
    """Print the bot's answer.

    Exits with CONFIGURATION_EXIT if a variable is missing or unusable, and with UNAVAILABLE_EXIT
    and a sentence on standard error if the bot refused, failed or didn't answer.
    """
    with complaining():
        url, token = _required(URL, "the address of the running bot"), _required(TOKEN, "a token")
        proxy = proxy_towards(url)
        if not url.startswith(("http://", "https://")):
            raise ConfigurationError({URL: "not an address that begins with https:// or http://"})
    try:
        # Redirects are not followed: the token would go with them.
        answer = httpx.post(
            f"{url.rstrip('/')}/api/v1/{what}",
            json=asked,
            headers={"Authorization": f"Bearer {token}"},
            timeout=PATIENCE,
            proxy=proxy,
            trust_env=False,
            verify=httpx.create_ssl_context(),
        )
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        _fail(f"{URL}: the bot gave no answer ({error}). Check `mqbot status` before a retry.")
    sentence = _sentence(answer)
    if answer.status_code != httpx.codes.OK or sentence is None:
        _fail(sentence or f"the answer is not the bot's (status {answer.status_code})")
    click.echo(sentence)


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


def _fail(sentence: str) -> NoReturn:
    click.echo(f"mqbot: {sentence}", err=True)
    raise SystemExit(UNAVAILABLE_EXIT)

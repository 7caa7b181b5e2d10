"""What Slack makes of text: escaping, links and mentions, from apps and from people."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from bot.sandbox.slack.state.workspace import Workspace
from bot.sandbox.slack.wire import Json

_CONTROL_SEQUENCE = re.compile(r"<(?:[@#!][^<>\n]+|(?:https?|mailto|tel|slack):[^<>\n]+)>")
_BARE_URL = re.compile(r"https?://[^\s<>|]+[^\s<>|.,;:!?'\")\]]")
_BARE_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt);)")
_NAME = re.compile(r"(?<![\w<@#])(?:@(?P<user>[a-z0-9][\w.-]*)|#(?P<channel>[a-z0-9][\w-]*))")
_BROADCASTS = {"here", "channel", "everyone"}
_STYLED = re.compile(
    r"(?P<code>`[^`\n]+`)|(?<!\w)(?:(?P<bold>\*[^*\s](?:[^*\n]*[^*\s])?\*)"
    r"|(?P<italic>_[^_\s](?:[^_\n]*[^_\s])?_)|(?P<strike>~[^~\s](?:[^~\n]*[^~\s])?~))(?!\w)"
)


def escape(text: str) -> str:
    """Escape the three characters that Slack's markup gives a meaning."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


class _Piece(NamedTuple):
    """A piece of a text."""

    text: str
    match: re.Match[str] | None = None  #: None for what lies between matches


def _split(pattern: re.Pattern[str], text: str) -> Iterator[_Piece]:
    """Cut text into what matches and what lies between."""
    start = 0
    for match in pattern.finditer(text):
        if match.start() > start:
            yield _Piece(text[start : match.start()])
        yield _Piece(match.group(), match)
        start = match.end()
    if start < len(text):
        yield _Piece(text[start:])


def _link_urls(text: str) -> str:
    return _BARE_URL.sub(lambda match: f"<{match.group()}>", text)


def text_from_app(text: str, workspace: Workspace, *, link_names: bool = False) -> str:
    """Give the text that Slack stores for an app's `text`: links marked, stray characters escaped.

    Control sequences stay as sent. With `link_names` (parse=full, parse=client, link_names=1)
    bare @names, #channels and broadcasts become mentions too.
    """
    parts = []
    for piece, match in _split(_CONTROL_SEQUENCE, text):
        if match is not None:
            parts.append(piece)
            continue
        safe = _BARE_AMPERSAND.sub("&amp;", piece).replace("<", "&lt;").replace(">", "&gt;")
        linked = _link_urls(safe)
        parts.append(_link_names(linked, workspace) if link_names else linked)
    return "".join(parts)


def text_from_person(text: str, workspace: Workspace) -> str:
    """Give the text that Slack stores for what a person typed: escaped, names and URLs linked."""
    return _link_names(_link_urls(escape(text)), workspace)


def command_text(text: str, workspace: Workspace, *, should_escape: bool) -> str:
    """Give the `text` of a slash command as its payload carries it.

    Slack escapes `&`, `<` and `>` always; only with `should_escape` do names become ids
    (`<@U1>`, `<#C1|name>`, the name left out for private channels) and URLs `<url>`.
    """
    return text_from_person(text, workspace) if should_escape else escape(text)


def _link_names(text: str, workspace: Workspace) -> str:
    def linked(match: re.Match[str]) -> str:
        if (name := match["user"]) is not None:
            if name in _BROADCASTS:
                return f"<!{name}>"
            user = workspace.user_named(name)
            if user is not None:
                # Without a label, as Slack sends it since 2017
                # (docs.slack.dev/changelog/2017-09-the-one-about-usernames).
                return f"<@{user.id}>"
            group = workspace.group_named(name)
            return f"<!subteam^{group.id}>" if group else match.group()
        channel = workspace.channel_named(match["channel"])
        if channel is None:
            return match.group()
        return f"<#{channel.id}|{'' if channel.is_private else channel.name}>"

    pieces = _split(_CONTROL_SEQUENCE, text)
    return "".join(piece if match else _NAME.sub(linked, piece) for piece, match in pieces)


def rich_text_from_person(stored: str) -> Json:
    """Build the rich_text block that Slack's composer sends along with a person's message."""
    elements: list[Json] = []
    for piece, match in _split(_CONTROL_SEQUENCE, stored):
        if match is not None:
            elements.append(_mention(piece[1:-1]))
            continue
        for run, styled in _split(_STYLED, piece):
            if styled is None:
                elements.append({"type": "text", "text": unescape(run)})
                continue
            style = {str(styled.lastgroup): True}
            elements.append({"type": "text", "text": unescape(run[1:-1]), "style": style})
    section = {"type": "rich_text_section", "elements": elements}
    return {"type": "rich_text", "elements": [section]}


def _mention(inside: str) -> Json:
    target, _, label = inside.partition("|")
    if target.startswith("@"):
        return {"type": "user", "user_id": target[1:]}
    if target.startswith("#"):
        return {"type": "channel", "channel_id": target[1:]}
    if target.startswith("!subteam^"):
        return {"type": "usergroup", "usergroup_id": target.removeprefix("!subteam^")}
    if target.startswith("!"):
        return {"type": "broadcast", "range": target[1:]}
    link: Json = {"type": "link", "url": unescape(target)}
    return {**link, "text": unescape(label)} if label else link

"""Outside text made safe and short, and small helpers for words."""

import re
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta


def channel(channel_id: str) -> str:
    """A link to a channel, which Slack shows by name if the reader may see it."""
    return f"<#{escape(channel_id)}>" if channel_id.startswith(("C", "G")) else "a direct message"


ELLIPSIS = "…"


NAME_LIMIT = 60
"""Characters shown of the name of a person, a queue, a branch or a check."""


TITLE_LIMIT = 80
"""Characters shown of a pull request's title."""


ADDRESS_LIMIT = 600
"""Characters of an address; a longer one is left out, because half of it leads nowhere."""


LISTED_LENGTH = 1500
"""Characters of a list within a sentence; with several of them a message still fits."""


# Categories Cc (control), Cf (format: zero-width and bidirectional marks), Cs (surrogates),
# Co and Cn (no agreed look). Joiners that emoji and some scripts need are kept.
_KEPT_FORMAT_CHARACTERS = {"\u200c", "\u200d"}


_UNWANTED_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn"}


_SPACE = re.compile(r"\s")


_SPACES = re.compile(r"\s+")


_SENTENCE_END = re.compile(r"[.?!](?=\s)")


_BROKEN = re.compile(r"(<[^>]*|&[a-z]*)\Z")


_LABELLED = re.compile(r"<(?:!date|https?:)[^|>]*\|([^>]*)>", re.IGNORECASE)


_BOLD = re.compile(r"(?<!\w)\*(\S[^*\n]*)\*(?!\w)")


_ICON = re.compile(r"^:[a-z_]+: ", re.MULTILINE)


_ADDRESS_OR_MARKUP = re.compile(
    r"<[^>]*>|`[^`\n]*`|(?<![\w/@.])https?://[^\s<>|`*]+", re.IGNORECASE
)


_AFTER_ADDRESS = re.compile(r"(?:&(?:amp|lt|gt);|[.,;:!?'\")\]}…\u2019\u201d\u00bb])+\Z")


_SAFE_HOST = re.compile(r"https?://[a-z0-9.-]+(?::\d+)?(?:[/?#].*)?", re.IGNORECASE)


_BARE_LINK = re.compile(r"<(https?:[^|>]*)>", re.IGNORECASE)


_STYLE = "*_~`\uff0a\uff3f\uff40"
"""What begins and ends a style, with the wide forms of eastern keyboards."""


_LITERAL = "<!date^00000000^{{_}}|{character}>"
"""A date without a known form, of which Slack shows the rest as it is, without styles.

There is no other way to show these characters: no escape exists, and a zero-width space beside one
even begins a style within a word
(https://github.com/yhatt/jsx-slack/blob/main/docs/about-escape-and-exact-mode.md).
"""


_LITERALS = re.compile(rf"<!date\^00000000\^\{{_\}}\|([{_STYLE}])>")


_SIMILAR = str.maketrans(_STYLE, "\u2217\u02cd\u223c\u02cb\ufe61\u2e0f\u02cb")
"""Characters that look the same."""


_PRIVATE = str.maketrans({character: chr(0xE000 + at) for at, character in enumerate(_STYLE)})
_FROM_PRIVATE = {ord(private): chr(character) for character, private in _PRIVATE.items()}


_MOST_LITERALS = 30
"""Each takes 22 characters, and a message has a limit; a text with more gets those alike."""


_STYLED = re.compile(
    r"https?://[^\s<>|`*]+|:[a-z0-9+][\w+'-]*:"
    rf"|(?P<style>[*`\uff0a\uff40]|(?<![^\W_])[{_STYLE}]|[{_STYLE}](?![^\W_]))",
    re.IGNORECASE,
)
"""Addresses, emoji, and what may begin or end a style; `_` and `~` do nothing within a word."""


_UNSAFE_IN_LINK = {"<": "%3C", ">": "%3E", "|": "%7C", " ": "%20", '"': "%22"}


def clean(text: str, limit: int) -> str:
    """One line of at most `limit` characters without control or bidirectional characters."""
    spaced = _SPACES.sub(" ", text)
    # The common case, faster than checking each character.
    kept = spaced if spaced.isprintable() else _without(spaced, _UNWANTED_CATEGORIES)
    return cut(_SPACES.sub(" ", kept).strip(), limit)


def one_line(text: str, limit: int) -> str:
    """The same, with its spaces as they were typed."""
    spaced = _SPACE.sub(" ", text)
    kept = spaced if spaced.isprintable() else _without(spaced, _UNWANTED_CATEGORIES)
    return cut(kept.strip(), limit)


def without_invisible(text: str) -> str:
    """The text without zero-width and bidirectional characters, which would hide in a word."""
    # The common case, faster than checking each character.
    return text if text.isprintable() else _without(text, {"Cf"})


def _without(text: str, categories: set[str]) -> str:
    return "".join(
        character
        for character in text
        if character in _KEPT_FORMAT_CHARACTERS or unicodedata.category(character) not in categories
    )


def cut(text: str, limit: int) -> str:
    """Shorten to `limit` characters, with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + ELLIPSIS


def first_sentences(text: str, limit: int) -> str:
    """As many whole sentences as fit, without splitting bold, code or links; empty for none."""
    if len(text) <= limit:
        return text
    ends = [end.end() for end in _SENTENCE_END.finditer(text[: limit + 1])]
    heads = [text[:end] for end in reversed(ends)]
    return next((head for head in heads if not _is_split(head)), "")


def _is_split(head: str) -> bool:
    is_open = head.count("<") != head.count(">")
    return is_open or head.count("`") % 2 == 1 or head.count("*") % 2 == 1


def cut_markup(text: str, limit: int) -> str:
    """Like `cut`, without splitting our links, times and escapes."""
    if len(text) <= limit:
        return text
    head = _BROKEN.sub("", text[: limit - 1])
    return head.rstrip() + ELLIPSIS


def portions(parts: Sequence[str], length: int, joined_by: str = "\n") -> list[list[str]]:
    """Whole parts in order, with as many in each portion as fit in `length` characters.

    Only a longer part is cut.
    """
    found: list[list[str]] = []
    room = 0
    for part in parts:
        room -= len(joined_by) + len(part)
        if room < 0 or not found:
            found.append([])
            room = length - len(part)
        found[-1].append(cut_markup(part, length))
    return found


def listed(
    parts: Sequence[str],
    joined_by: str = ", ",
    *,
    length: int = LISTED_LENGTH,
    most: int | None = None,
    besides: int = 0,
    rest: str = "",
) -> str:
    """As many whole parts as fit, and how many more there are; `rest` says where to see those.

    `besides`: how many more exist that aren't among the parts.
    """
    shown = next(iter(portions(parts[:most], length, joined_by)), [])
    left = len(parts) - len(shown) + besides
    if not left:
        return joined_by.join(shown)
    before_last = " " if joined_by == ", " else joined_by
    return f"{joined_by.join(shown)}{before_last}and {left:,} more{rest}"


def escape(text: str) -> str:
    """Text that Slack shows literally: the three characters that start its own syntax.

    https://docs.slack.dev/messaging/formatting-message-text
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def quote(text: str, limit: int = NAME_LIMIT) -> str:
    """Outside text, safe for a mrkdwn object marked `verbatim`."""
    return escape(clean(text, limit))


def literal(text: str, limit: int) -> str:
    """What a person wrote: the same with each `*`, `_`, `~` and backtick as a character.

    Addresses and emoji stay whole.
    """
    escaped = quote(text, limit)
    found = [match for match in _STYLED.finditer(escaped) if match["style"]]
    if len(found) > _MOST_LITERALS:
        return escaped.translate(_SIMILAR)
    return _STYLED.sub(_as_it_is, escaped) if found else escaped


def _as_it_is(found: re.Match[str]) -> str:
    style = found["style"]
    return _LITERAL.format(character=style) if style else found[0]


def person(name: str | None) -> str:
    """A person by the name that Slack shows; unlike `mention`, it notifies nobody."""
    return quote(name) if name else ""


def by(name: str | None) -> str:
    """Who did something, if known."""
    return f"by {person(name)}" if name else ""


def code(text: str, limit: int = NAME_LIMIT) -> str:
    """Outside text as inline code, without backticks, which would end it early."""
    shown = quote(text.replace("`", "'"), limit)
    return f"`{shown}`"


def link(url: str, label: str) -> str:
    """A link with an escaped label.

    The label alone when the address is not http(s), or too long for a line.
    """
    if not url.lower().startswith(("https://", "http://")):
        return label
    whole = clean(url, len(url))
    safe = escape("".join(_UNSAFE_IN_LINK.get(character, character) for character in whole))
    return f"<{safe}|{label.replace('|', '¦')}>" if len(safe) <= ADDRESS_LIMIT else label


def with_links(text: str) -> str:
    """Escaped text in which addresses are links that show the whole address.

    An address that was cut leads nowhere, and one with a name or odd characters before its path
    may lead elsewhere than it seems: neither is linked.
    """
    return _ADDRESS_OR_MARKUP.sub(_linked, text) if "://" in text else text


def _linked(found: re.Match[str]) -> str:
    whole = found[0]
    if whole[0] in "<`":
        return whole
    after = _AFTER_ADDRESS.search(whole)
    address = whole[: after.start()] if after else whole
    is_cut = after is not None and ELLIPSIS in after[0]
    if is_cut or not _SAFE_HOST.fullmatch(address):
        return whole
    return f"<{address}>{whole[len(address) :]}"


def pull_request(number: int, title: str, url: str) -> str:
    """A linked pull request: its number and title."""
    return link(url, f"#{number} {quote(title, TITLE_LIMIT)}".rstrip())


def without_markup(text: str) -> str:
    """Our own markup as plain text: links and times by their labels, no bold, no icons."""
    # What somebody typed is no markup.
    typed = _LITERALS.sub(_private, text)
    labelled = _BARE_LINK.sub(r"\1", _LABELLED.sub(r"\1", typed))
    plain = _BOLD.sub(r"\1", _ICON.sub("", labelled))
    return plain.translate(_FROM_PRIVATE)


def _private(found: re.Match[str]) -> str:
    return found[1].translate(_PRIVATE)


def mention(user_id: str) -> str:
    """A mention of a person by Slack id, which notifies them.

    https://docs.slack.dev/messaging/formatting-message-text#mentioning-users
    """
    return f"<@{escape(user_id)}>"


def mention_group(group_id: str) -> str:
    """A user group by its Slack id; its members are notified."""
    return f"<!subteam^{escape(group_id)}>"


def plural(count: int, one: str, many: str | None = None) -> str:
    """The count with its noun: "1 batch", "3 batches"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def joined_with_and(names: Sequence[str]) -> str:
    """The names with "and" before the last: "a, b and c"."""
    *others, last = names or [""]
    return f"{', '.join(others)} and {last}" if others else last


def alternatives(names: Sequence[str]) -> str:
    """The names with "or" before the last: "a, b or c"."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def by_count(count: int, one: str, many: str) -> str:
    """The whole sentence for one, or for any other number, with `{count}` filled in.

    Both are ours: text from outside may hold braces, so it is added afterwards.
    """
    return (one if count == 1 else many).replace("{count}", f"{count:,}")


SAME_DAY = timedelta(hours=12)
"""A time that is no further away is known by its clock alone."""

_LOWER = "\u200b"
"""In front of a token, where Slack would begin with a capital: "resumes Today at 4:16 PM"."""


def _date(at: datetime, form: str) -> str:
    """A time that Slack shows in each reader's zone, with UTC as a fallback.

    https://docs.slack.dev/messaging/formatting-message-text#date-formatting
    """
    return f"<!date^{int(at.timestamp())}^{_LOWER}{form}|{utc_time(at)}>"


def local_time(at: datetime) -> str:
    """A time within a sentence: "today at 4:16 PM", "Nov 30, 2026 at 9:00 AM"."""
    return _date(at, "{date_short_pretty} at {time}")


def clock_time(at: datetime) -> str:
    """The same without the day, of what has just been read: "4:16 PM"."""
    return _date(at, "{time}")


def within(length: timedelta) -> str:
    """How far away a time is, in whole minutes at least: "2 d 18 h"."""
    return duration(max(length, timedelta(minutes=1)))


def expected(at: datetime, now: datetime) -> str:
    """A time to come, with its day where that isn't plain: "expected at 4:16 PM"."""
    return f"expected at {clock_time(at)}" if at - now < SAME_DAY else f"expected {local_time(at)}"


def time_ago(at: datetime) -> str:
    """The age of a time as each reader sees it: "4 minutes ago"."""
    return _date(at, "{ago}")


def since(at: datetime) -> str:
    """The age of a time, and the time itself: "4 minutes ago (today at 4:16 PM)"."""
    return _date(at, "{ago} ({date_short_pretty} at {time})")


def countdown(at: datetime) -> str:
    """How long until a time, and the time itself: "in 26 minutes (today at 5:00 PM)"."""
    return _date(at, "{ago} ({date_short_pretty} at {time})")


def time_and_age(at: datetime, *, is_near: bool = False) -> str:
    """The time first, as a fact behind its label: "today at 4:16 PM (4 minutes ago)".

    A time to come says how far away it is, "(in 4 minutes)". Slack keeps both true.
    `is_near`: the age alone tells the day.
    """
    return _date(at, "{time} ({ago})" if is_near else "{date_short_pretty} at {time} ({ago})")


def utc_time(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def duration(length: timedelta) -> str:
    """A length in its two largest units, never negative: "1 h 42 min", "3 d 4 h", "12 s"."""
    seconds = max(int(length.total_seconds()), 0)
    days, rest = divmod(seconds, 86400)
    hours, rest = divmod(rest, 3600)
    minutes, seconds = divmod(rest, 60)
    if days:
        return f"{days} d {hours} h" if hours else f"{days} d"
    if hours:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{minutes} min" if minutes else f"{seconds} s"


def period(length: timedelta) -> str:
    """A period in words: whole days ("7 days"), else like `duration`."""
    days, rest = divmod(length, timedelta(days=1))
    if rest or not days:
        return duration(length)
    return f"{days} days" if days > 1 else "24 h"

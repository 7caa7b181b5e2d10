"""What is wrong with a setting, in our own sentences: no library's words, no Markdown."""

import re
from collections.abc import Collection, Iterable
from difflib import get_close_matches

NEARLY = 0.88
"""The similarity from which a variable counts as a typo of a setting. Those that Kubernetes sets
for a service called mqbot (`MQBOT_PORT`, `MQBOT_SERVICE_HOST`) reach 0.8 at most."""

SIMILAR = 0.75
"""The similarity from which a name is suggested; the person sees that it is a guess."""

SETTING_PREFIX = "MQBOT_"

MARKDOWN_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
PLACE = re.compile(r"\(at ([^()]*)\)$")
"""How Python's TOML reader ends its errors."""

CURLY = re.compile("[\u2018\u2019\u201c\u201d\u201e]")
"""Quotation marks that editors put in place of straight ones."""

LINE = re.compile(r"line (\d+)")
NAME = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_.-]{0,60})(?=\s*[=:])")


def plain(description: str) -> str:
    """A description of the documentation, without its Markdown."""
    return MARKDOWN_LINK.sub(r"\1", description).replace("`", "")


def toml_problem(error: ValueError, text: str) -> str:
    """Why a file isn't TOML; Python's own words quote the grammar.

    It repeats no value, which may be a secret without its quotation marks.
    """
    place = PLACE.search(str(error))
    if place is None:
        return "isn't valid TOML"
    number = LINE.match(place[1])
    lines = text.splitlines()
    # Where the text ends too early, its last line is the wrong one.
    line = lines[int(number[1]) - 1] if number else next(filter(str.strip, lines[::-1]), "")
    written = NAME.match(line)
    name = f" ({written[1]})" if written else ""
    # Nothing is wrong with the line so far: the reader expected another value there.
    is_continued = written is not None and place[1].endswith(f"column {written.start(1) + 1}")
    remedy = _toml_remedy(line, str(error))
    if is_continued and not any(word in str(error) for word in ("overwrite", "twice")):
        remedy = "close the bracket of a value before it"
    return f"isn't valid TOML at {place[1]}{name}; {remedy}"


def _toml_remedy(line: str, error: str) -> str:
    name, equals, value = line.partition("=")
    value = value.strip()
    remedy = "see that quotation marks, brackets and commas are complete"
    if "overwrite" in error or "twice" in error:
        remedy = "a name or table appears twice: remove one of them"
    elif CURLY.search(line):
        remedy = "use straight quotation marks"
    elif not equals and "end of document" not in error:
        remedy = 'write NAME = "value"'
    elif name.lstrip().startswith("export "):
        remedy = "remove the word export"
    elif equals and not value:
        remedy = "write a value after the equals sign"
    elif equals and value[0] not in "\"'[{":
        remedy = 'put text into quotation marks: NAME = "value"'
    return remedy


def nearest(written: str, known: Iterable[str]) -> str | None:
    """The known name that is meant, probably; case and `MQBOT_` don't count."""
    names = {_core(name): name for name in known}
    found = get_close_matches(_core(written), names, 1, SIMILAR)
    return names[found[0]] if found else None


def _core(name: str) -> str:
    return name.upper().removeprefix(SETTING_PREFIX)


def written_instead(name: str, others: Collection[str]) -> str | None:
    """The variable that was probably meant to be the missing setting `name`."""
    prefixed = [other for other in others if _core(other) == _core(name)]
    is_ours = [other for other in others if other.partition("_")[0] == name.partition("_")[0]]
    return next(iter(prefixed or get_close_matches(name, is_ours, 1, SIMILAR)), None)

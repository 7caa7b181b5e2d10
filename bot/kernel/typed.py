"""What people type, cut into words: each as it was typed, and as it is compared.

The only place that knows what may surround a word: Slack's marks for bold, code and the like,
quotes, brackets, punctuation, dashes, and characters that nobody sees. Slack's own escapes are gone
before (`bot.slack.payloads`). A reason is cut from the text as it was typed.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

BLANK = "\u2800"
"""Looks like a space but is none, so that somebody's name of several words stays one word.

At the beginning of a word it marks such a name, which no one can mean as a repository or a group.
What people type has none (`bot.slack.payloads`).
"""

_WORD = re.compile(rf"(?<!\S){BLANK}\S+|[^\s\u115f\u1160\u3164\uffa0]+")
"""Fillers are letters to Unicode, and spaces to the eye."""

_UNSEEN_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn"}
_UNSEEN_CHARACTERS = re.compile(
    r"[\u034f\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
"""Marks that change nothing, or only the look of the character before them."""

_DRAWN_ALIKE = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4\u02b9\uff07", "'"),
        **dict.fromkeys(
            "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02\u300c\u300d\u300e\u300f", '"'
        ),
        **dict.fromkeys("\u2039\u3008\u300a", "<"),
        **dict.fromkeys("\u203a\u3009\u300b", ">"),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2e3a\u2e3b\ufe58", "-"),
        **dict.fromkeys("\u2044\u2215\u29f8\u2571", "/"),
    }
)
"""Apostrophes, quotes, angle brackets, dashes and slashes of phones and other keyboards."""

_CLOSED_BY = {"(": ")", "[": "]", "{": "}", "<": ">", '"': '"', "'": "'", "`": "`"}
_EMPHASIS = "*_~"
"""Slack's marks that may also be a part of a name or a pattern: `branch:release/*`."""

_OPENED_BY = {closer: opener for opener, closer in _CLOSED_BY.items()}
_OPENED_BY |= dict(zip(_EMPHASIS, _EMPHASIS, strict=True))

_EMOJI_NAMES = re.compile(r"(?::[a-z0-9_+'-]+:)+", re.IGNORECASE)
_EMOJI_CATEGORIES = {"So", "Sk"}
"""Of characters that are pictures, and of those that give them a colour of skin."""

_ENDS_A_CLAUSE = ".,;!"
_DASHES = re.compile(r"^-{1,2}(?=[a-z]{2})", re.IGNORECASE)
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a text."""

    typed: str
    start: int
    """Its place in the text."""

    whole: str | None = None
    """If it was typed with spaces inside: how."""

    folded: str = field(init=False)
    """Without unseen characters, in the plain forms of letters, quotes, dashes and slashes."""

    plain: str = field(init=False)
    """And without what surrounds it: an option, a time, a topic."""

    bare: str = field(init=False)
    """From its first letter or digit to its last, in lower case: a verb, a keyword, a number."""

    def __post_init__(self) -> None:
        folded = fold(self.typed)
        object.__setattr__(self, "folded", folded)
        object.__setattr__(self, "plain", _unwrapped(folded))
        object.__setattr__(self, "bare", _bare(folded))

    @property
    def as_typed(self) -> str:
        return self.whole or self.typed

    @property
    def end(self) -> int:
        return self.start + len(self.as_typed)

    @property
    def is_name(self) -> bool:
        """Whether it is the name of a person, a channel or a user group mentioned in Slack."""
        return self.typed.startswith(BLANK)

    @property
    def time(self) -> str:
        """As a part of a time or a length, which needs no sign around it: `--until`, `(45m)`."""
        return _DASHES.sub("", self.plain.strip("\"'()[]{}<>*_~`").rstrip(":,;!"))

    @property
    def is_emoji(self) -> bool:
        """Whether it is nothing but emoji, as characters or as Slack writes them: `:tada:`."""
        if _EMOJI_NAMES.fullmatch(self.folded):
            return True
        categories = {unicodedata.category(character) for character in self.folded}
        return bool(categories) and categories <= _EMOJI_CATEGORIES

    @property
    def is_punctuation(self) -> bool:
        """Whether it is nothing but a dash, a colon or a quotation mark between other words."""
        return all(mark in ":,;-\"'" for mark in self.folded)


def read_words(text: str) -> list[Word]:
    return [Word(found[0], found.start()) for found in _WORD.finditer(text)]


def command_words(text: str, called: Collection[str] = ()) -> list[Word]:
    """The words from the verb on.

    `called`: the names of the command and of the bot, which people also type in front of it:
    `/mq /mq pause`, `@merge-queue: mq pause`.
    """
    words = read_words(text)
    names = {_bare(fold(name)) for name in called}
    while words and (words[0].is_punctuation or _is_call(words, names)):
        del words[0]
    return words


def _is_call(words: Sequence[Word], names: Collection[str]) -> bool:
    return words[0].bare in names and (len(words) > 1 or words[0].folded.startswith(("/", "@")))


def text_of(text: str, words: Sequence[Word]) -> str:
    """The piece of the text that the words are, as typed.

    Words between them that were read as something else leave one space. A quote or mark that was
    opened before the piece isn't closed in it.
    """
    if not words:
        return ""
    pieces: list[str] = []
    begin = words[0].start
    end = words[0].end
    for word in words[1:]:
        if _WORD.search(text[end : word.start]):
            pieces.append(text[begin:end])
            begin = word.start
        end = word.end
    pieces.append(text[begin:end])
    return _without_closers(" ".join(pieces), before=text[: words[0].start])


def _without_closers(piece: str, before: str) -> str:
    """The piece without the ends of what was opened before it: "`pause CI is down`"."""
    while piece:
        mark = fold(piece[-1])
        opener = _OPENED_BY.get(mark)
        if opener is None:
            return piece
        is_open = _opened(before, opener, mark) > 0
        if not is_open or _opened(piece, opener, mark) >= 0:
            return piece
        piece = piece[:-1].rstrip()
        before += mark
    return piece


def _opened(text: str, opener: str, closer: str) -> int:
    """How many quotes or marks of that kind are opened around words and not closed."""
    count = 0
    for word in fold(text).split():
        letters = [found.start() for found in _LETTER_OR_DIGIT.finditer(word)] or [len(word)]
        count += word[: letters[0]].count(opener)
        count -= word[letters[-1] + 1 :].count(closer)
    return count


def fold(text: str) -> str:
    """The text in the plain forms of its characters, without those that nobody sees."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSEEN_CHARACTERS.sub("", "".join(map(_folded, text))).translate(_DRAWN_ALIKE)


def _folded(character: str) -> str:
    category = unicodedata.category(character)
    if category in _UNSEEN_CATEGORIES:
        return ""
    # `½` and `²` are no digits: `1½h` isn't 11/2h. Quotes and dashes have their own table.
    if character.isascii() or category == "No" or ord(character) in _DRAWN_ALIKE:
        return character
    return unicodedata.normalize("NFKC", character)


def _unwrapped(word: str) -> str:
    """The word without quotes, brackets and marks around it, and punctuation behind it."""
    while word:
        first = word[0]
        last = word[-1]
        closer = first if first in _EMPHASIS else _CLOSED_BY.get(first)
        if len(word) > 1 and last == closer:
            word = word[1:-1]
        elif last in _ENDS_A_CLAUSE or _is_loose(word, last):
            word = word[:-1]
        elif first in _EMPHASIS or first == "`":
            word = word[1:]
        else:
            break
    return word


def _is_loose(word: str, last: str) -> bool:
    """Whether the last character closes what was opened in front of the word: `main)`."""
    opener = _OPENED_BY.get(last)
    if opener is None or last in _EMPHASIS:
        return False
    if opener == last:
        return word.count(last) % 2 == 1
    return word.count(opener) < word.count(last)


def _bare(word: str) -> str:
    letters = [found.start() for found in _LETTER_OR_DIGIT.finditer(word)]
    # A dot in front is a part of a name: `.github`, `./pause`.
    first = word.find(".") if word.startswith(".") else -1
    if not letters:
        return ""
    begin = letters[0] if first < 0 else first
    return word[begin : letters[-1] + 1].casefold()


def trims(word: str) -> Iterator[str]:
    """The word, and what is left of it without more and more of what may be no part of a name.

    From the longest on, because a name may begin or end with a dot, a hyphen or an underscore.
    """
    letters = [found.start() for found in _LETTER_OR_DIGIT.finditer(word)]
    if not letters:
        return
    first = letters[0]
    last = letters[-1] + 1
    before = range(max(first - _TRIMMED, 0), first + 1)
    after = range(last, min(last + _TRIMMED, len(word)) + 1)
    yield word
    pieces = [(begin - end, begin, end) for begin in before for end in after]
    for _, begin, end in sorted(pieces):
        yield word[begin:end]


_TRIMMED = 4
"""Characters next to the letters that are tried as a part of a name."""

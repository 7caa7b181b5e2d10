"""The people, titles and labels that make simulated pull requests look like real work."""

from collections.abc import Sequence

from bot.sandbox.merge_queue.simulation.state import Actor, Person, PullRequest
from bot.sandbox.merge_queue.simulation.titles import BUMPS, TITLES, Title
from bot.sandbox.merge_queue.simulation.turn import Turn

PEOPLE = (
    Person(10_401, "alice"),
    Person(10_402, "bob"),
    Person(10_403, "carol"),
    Person(10_404, "dave"),
    Person(10_405, "erin-k"),
    Person(10_406, "dependabot[bot]"),
)

_LABEL_COLOURS = {
    "bug": "d73a4a",
    "enhancement": "a2eeef",
    "hotfix": "b60205",
    "backport": "c5def5",
    "dependencies": "0366d6",
    "queued": "fbca04",
    "dequeued": "cccccc",
}


def person(login: str) -> Person:
    """Find an author by login; an unknown one gets a number of its own."""
    for known in PEOPLE:
        if known.login == login:
            return known
    return Person(20_000 + sum(login.encode()) * 31 % 10_000, login)


def label_colour(name: str) -> str:
    return _LABEL_COLOURS.get(name, "ededed")


def write_pull_request(turn: Turn) -> PullRequest:
    """Make up a pull request, in the tempo of its repository."""
    chance = turn.random
    tempo = turn.repository.tempo
    author = chance.choice(PEOPLE)
    about = _first_unused(turn, TITLES, chance.choice(TITLES))
    if author.login.endswith("[bot]"):
        about = _first_unused(turn, BUMPS, chance.choice(BUMPS))
    turn.repository.latest_titles.append(about.text)
    labels = [about.label]
    base_ref = "release/4.2" if chance.random() < tempo.release else "main"
    if chance.random() < tempo.urgent:
        labels.append("hotfix")
    elif base_ref == "main" and chance.random() < tempo.release / 2:
        labels.append("backport")
    pull = PullRequest(
        number=turn.new_number(),
        title=about.text,
        author=author,
        base_ref=base_ref,
        head_sha=turn.sha(),
        labels=tuple(labels),
        scopes=(about.scope,),
    )
    _decide_fate(turn, pull)
    return pull


def _first_unused(turn: Turn, titles: Sequence[Title], chosen: Title) -> Title:
    """The chosen title, or the next one that no late pull request has; if all are used, itself."""
    used = turn.repository.latest_titles
    at = titles.index(chosen)
    for title in (*titles[at:], *titles[:at]):
        if title.text not in used:
            return title
    return chosen


def _decide_fate(turn: Turn, pull: PullRequest) -> None:
    chance = turn.random
    tempo = turn.repository.tempo
    draw = chance.random()
    if draw < tempo.broken:
        pull.broken_check = chance.choice(tempo.checks).name
    elif draw < tempo.broken + tempo.hanging:
        pull.hangs = True
    elif draw < tempo.broken + tempo.hanging + tempo.conflicting:
        pull.conflict = chance.choice(("CONFLICT_WITH_BASE_BRANCH", "CONFLICT_WITH_PULL_AHEAD"))


def actor(by: Actor | str) -> Actor:
    """Who acts, or the person of that login."""
    if isinstance(by, Actor):
        return by
    known = person(by)
    return Actor("user", known.id, known.login)
